import { hash } from "node:crypto"
import type { Sql } from "../../database/types.ts"
import { PLAY_PUBLISHER_HOST } from "../../lib/upstreams.ts"
import { jsonOrNothing } from "../../measuring/parsing/json.ts"
import { PutAside } from "../../measuring/parsing/put-aside.ts"
import type { AccountTurn } from "../account-kind.ts"
import type { ConsoleReviewsObservation } from "../kinds/console-reviews.ts"
import { hoursLater } from "../seller/console-parts.ts"
import { PLAY_REVIEWS_PAGE, playReviewsIn, playReviewsPath } from "../sources/play-reviews.ts"
import { type AccountTask, endTask, makeTasks } from "../tasks.ts"
import type { Play } from "./client.ts"

interface PlayReviewParts extends Pick<AccountTurn, "sql" | "record" | "account" | "now" | "fence" | "signal"> {
  play: Play
}

/** Adds a task for each tracked app. */
export async function makeReviewTasks(sql: Sql, account: string): Promise<void> {
  await makeTasks(
    sql,
    account,
    sql`
      select 'reviews', outside_id, null::date
      from account_app
      where account_id = ${account} and app_id is not null`,
  )
}

/** A review is listed only for a week. With several reads a day no review is missed even if some reads fail. */
const EVERY_HOURS = 6
/** Maximum number of pages: the week's reviews of an app with 700 reviews a day. */
const MAX_PAGES = 50

/**
 * Reads the reviews of an app that were written or edited in the last week, page by page, and stores them in the same
 * transaction as the end of the task. If a page fails, the pages before it are stored. Bodies are not kept, because
 * they name the authors.
 */
export async function readPlayReviews(parts: PlayReviewParts, task: AccountTask): Promise<void> {
  const { sql, record, account, now, fence } = parts
  const nextAt = hoursLater(now(), EVERY_HOURS)
  const aside = new PutAside()
  const pages: ConsoleReviewsObservation[] = []
  let isThere: boolean
  try {
    isThere = await readPages(parts, task.subject, { pages, aside })
  } catch (error) {
    if (pages.length > 0) await record(sql, pages, now, { all: true, finish: fence })
    throw error
  }
  if (!isThere) return await endTask(sql, account.id, task, { state: "gone", nextAt })
  const state = pages.some(({ reviews }) => reviews.length > 0) ? "read" : "empty"
  await record(sql, pages, now, {
    all: true,
    async finish(tx) {
      await fence(tx)
      await endTask(tx, account.id, task, { state, nextAt, putAside: aside.text() })
    },
  })
}

/** Adds the pages in order. Returns false if the account has no such app. */
async function readPages(
  { play, account, now, signal }: PlayReviewParts,
  packageName: string,
  { pages, aside }: { pages: ConsoleReviewsObservation[]; aside: PutAside },
): Promise<boolean> {
  const path = playReviewsPath(packageName)
  const tokens = new Set<string>()
  let token: string | undefined
  while (pages.length < MAX_PAGES) {
    const query = { maxResults: String(PLAY_REVIEWS_PAGE), token }
    const { status, bytes } = await play.get(PLAY_PUBLISHER_HOST, path, query, signal)
    if (status === 404) return false
    const about = { seenAt: now(), sha256: hash("sha256", bytes, "buffer") }
    const document = jsonOrNothing(new TextDecoder().decode(bytes))
    const { seen, next } = playReviewsIn(document, { account: account.id, storeId: packageName }, about, aside)
    pages.push(seen)
    // A repeated token would request a page that has been read before.
    if (next === null || tokens.has(next)) return true
    tokens.add(next)
    token = next
  }
  aside.note(`more than ${MAX_PAGES} pages of reviews: the older ones were not read`)
  return true
}
