import { PLAY_PUBLISHER_HOST } from "../../lib/upstreams.ts"
import { ConsoleProblem } from "../console.ts"
import type { AccountApp, Look, RightState } from "../look.ts"
import { findFile, listFiles } from "./bucket.ts"
import type { Play } from "./client.ts"

/** A package name of Google Play. */
const PACKAGE = /^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/

/** The rights of a service account. Each is tested by requests that change nothing. */
type PlayRight = "statistics" | "financial" | "reviews" | "replies"

const STATISTICS = "stats/installs/"
const FINANCIAL = ["sales/", "earnings/"]
/** Maximum number of apps to try. A permission may be given for single apps, so one app is not enough. */
const MAX_TRIED = 5

/** The permission in Play Console that each right needs. */
const NEEDS: Record<PlayRight, string> = {
  statistics: "the permission to view app information and download bulk reports, for all apps of the account",
  financial: "the permission to view financial data",
  reviews: "the permission to view app information, or to reply to reviews",
  replies: "the permission to reply to reviews",
}

/**
 * Returns the rights of the key, and the apps that have statistics in the bucket. Throws ConsoleProblem when the rights
 * cannot be determined.
 */
export async function lookAtPlay(play: Play, bucket: string): Promise<Look> {
  const apps: AccountApp[] = []
  const statistics = await probe("statistics", async () => {
    const files = await listFiles(play, bucket, {
      prefix: STATISTICS,
      matchGlob: `${STATISTICS}installs_*_overview.csv`,
    })
    apps.push(...packagesIn(files.map(({ name }) => name)).map(appOf))
    const latest = files.at(-1)
    if (latest) await findFile(play, bucket, latest.name)
  })
  const financial = statistics.state === "denied" ? untested("financial") : await lookAtFinancial(play, bucket)
  const reviews = await lookAtReviews(play, apps)
  return { rights: [statistics, financial, reviews, untested("replies")], apps, store: "android" }
}

/** A bucket may let a key list files that it does not let it read. */
async function lookAtFinancial(play: Play, bucket: string): Promise<RightState> {
  let found = false
  const right = await probe("financial", async () => {
    for (const prefix of FINANCIAL) {
      const latest = (await listFiles(play, bucket, { prefix })).at(-1)
      if (latest) await findFile(play, bucket, latest.name)
      found ||= latest !== undefined
    }
  })
  return right.state === "ok" && !found ? untested("financial") : right
}

async function lookAtReviews(play: Play, apps: readonly AccountApp[]): Promise<RightState> {
  let right = untested("reviews")
  for (const { outsideId } of apps.slice(0, MAX_TRIED)) {
    const path = `/androidpublisher/v3/applications/${encodeURIComponent(outsideId)}/reviews`
    right = await probe("reviews", async () => {
      const found = await play.document(PLAY_PUBLISHER_HOST, path, { maxResults: "1" })
      if (found === null)
        throw new ConsoleProblem("refused", `the key has no access to the app ${outsideId} on Google Play`)
    })
    if (right.state === "ok") break
  }
  return right
}

const UNTESTED: Record<PlayRight, string> = {
  statistics: "",
  financial: "unknown until the bucket has a report of sales or earnings",
  reviews: "unknown until the bucket has statistics of an app",
  replies: `unknown until the first reply; needs ${NEEDS.replies}`,
}

function untested(name: PlayRight): RightState {
  return { name, state: "unknown", why: UNTESTED[name] }
}

async function probe(name: PlayRight, ask: () => Promise<unknown>): Promise<RightState> {
  try {
    await ask()
    return { name, state: "ok", why: null }
  } catch (error) {
    if (!(error instanceof ConsoleProblem)) throw error
    if (error.trouble === "forbidden") return { name, state: "denied", why: whyDenied(name, error) }
    if (error.trouble === "refused")
      return { name, state: name === "statistics" ? "denied" : "unknown", why: error.message }
    throw error
  }
}

function whyDenied(name: PlayRight, { details }: ConsoleProblem): string {
  if (details.includes("accessNotConfigured"))
    return "needs the Google Play Android Developer API to be enabled in the Google Cloud project of the key"
  const invited = "invite the service account under Users and permissions"
  return `needs ${NEEDS[name]} in Play Console: ${invited}; Google takes up to a day to apply it`
}

function packagesIn(names: readonly string[]): string[] {
  const found = names.map((name) => /^stats\/installs\/installs_(.+)_\d{6}_overview\.csv$/.exec(name)?.[1] ?? "")
  return [...new Set(found.filter((name) => PACKAGE.test(name) && name.length <= 150))].sort()
}

/** Returns an app by its package, because the bucket has no app names. */
function appOf(packageName: string): AccountApp {
  return { outsideId: packageName, sku: packageName, name: packageName, bundleId: packageName }
}
