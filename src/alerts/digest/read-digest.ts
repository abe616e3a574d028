import type { AnswerOf, InputOf, OperationId } from "../../answers.ts"
import { type AlertGroup, groupAlerts } from "../../lib/alert-groups.ts"
import { attempted, isFault, type Side, sidesOf } from "../../ui/app/context.ts"
import type { Period, Schedule } from "./period.ts"

/** Runs an operation with the rights of one person, as pages do. Throws Faults. */
export type Ask = <Id extends OperationId>(id: Id, input?: InputOf<Id>) => Promise<AnswerOf<Id>>

type DigestAlert = AnswerOf<"list_alerts">["alerts"][number]
export type DigestReview = AnswerOf<"search_reviews">["reviews"][number] & Side & { app: string }
type Task = AnswerOf<"get_weekly_plan">["tasks"][number]

interface DigestApp {
  name: string
  /** Numbers of keywords that rose and that fell. Null if nothing could be compared. */
  up: number | null
  down: number | null
  /** Null if no feed was read. */
  reviews: number | null
}

interface DigestMoney {
  app: string
  /** One amount per currency. Empty if nothing was reported. */
  amounts: readonly { amount: string | number; currency: string }[]
}

/** The data of a period, read by operations with the rights of one person. */
export interface Digest {
  apps: readonly DigestApp[]
  moves: readonly AlertGroup<DigestAlert>[]
  /** Changes of the person's own pages and of rivals. */
  changes: readonly { text: string; day: string }[]
  reviews: readonly DigestReview[]
  /** Null if the person may not see money, or no account is connected. */
  money: { about: string; rows: readonly DigestMoney[] } | null
  tasks: readonly (Task & { app: string })[]
  /** Number of apps beyond MAX_APPS, which are left out. */
  appsLeft: number
}

/** Maximum number of apps in a digest. Each app takes some statements, and nobody reads a longer mail. */
const MAX_APPS = 20
const MAX_REVIEWS = 100
const MAX_TASKS = 2
const CAUSES: readonly string[] = ["rival_event", "off_topic", "weekly"]

/** Returns the digest of a period. Null if nothing was measured in it. */
export async function readDigest(ask: Ask, every: Schedule["every"], { from, to }: Period): Promise<Digest | null> {
  const { apps: heads } = await ask("list_app_heads")
  const described = heads.slice(0, MAX_APPS)
  const { alerts } = await ask("list_alerts", { from, to, limit: 500 })
  const found = alerts.filter(({ withdrawnAt, history }) => withdrawnAt === null && !history)
  const figures = every === "day" ? await readDay(ask, to) : await readWeek(ask, found)
  const reviews: DigestReview[] = []
  const changes: Digest["changes"][number][] = []
  const tasks: Digest["tasks"][number][] = []
  for (const head of described) {
    if (figures.byApp.get(head.id)?.reviews !== 0) reviews.push(...(await readReviews(ask, head, { from, to })))
    changes.push(...(await readChanges(ask, head, { from, to })))
    const plan = await attempted(ask("get_weekly_plan", { appId: head.id, limit: MAX_TASKS }))
    if (!isFault(plan)) tasks.push(...plan.tasks.map((task) => ({ ...task, app: head.name })))
  }
  if (!figures.isMeasured && found.length + reviews.length === 0) return null
  const grouping = { acrossDays: every === "week" }
  const rivals = groupAlerts(
    found.filter(({ type }) => type === "rival_event"),
    grouping,
  )
  return {
    apps: described.map(({ id, name }) => ({ name, ...(figures.byApp.get(id) ?? UNKNOWN) })),
    moves: groupAlerts(
      found.filter(({ type }) => !CAUSES.includes(type)),
      grouping,
    ),
    changes: [...changes, ...rivals.map(({ line, lead }) => ({ text: line, day: lead.day }))],
    reviews: reviews.sort((a, b) => a.rating - b.rating || (a.date < b.date ? 1 : -1)),
    money: figures.money,
    tasks: tasks.sort((a, b) => b.expectedValue - a.expectedValue),
    appsLeft: heads.length - described.length,
  }
}

type Head = AnswerOf<"list_app_heads">["apps"][number]

interface Figures {
  isMeasured: boolean
  byApp: Map<string, Omit<DigestApp, "name">>
  money: Digest["money"]
}

const UNKNOWN = { up: null, down: null, reviews: null }

async function readDay(ask: Ask, day: string): Promise<Figures> {
  const { apps, conns, hiddenMoney } = await ask("get_portfolio_overview", { day })
  const isConnected = conns.some(({ id, connected }) => connected && id === "subscriptions")
  const rows = apps.map(({ name, subscriptionRevenue }) => ({
    app: name,
    amounts: subscriptionRevenue === null ? [] : [{ amount: subscriptionRevenue, currency: "USD" }],
  }))
  return {
    isMeasured: apps.some(({ keywordsMeasured, newReviews }) => keywordsMeasured > 0 || newReviews !== null),
    byApp: new Map(
      apps.map((app) => [app.appId, { up: app.keywordsUp, down: app.keywordsDown, reviews: app.newReviews }]),
    ),
    money: hiddenMoney || !isConnected ? null : { about: `Proceeds of ${day}.`, rows },
  }
}

/** Takes the figures from the weekly summaries in the feed. */
async function readWeek(ask: Ask, alerts: readonly DigestAlert[]): Promise<Figures> {
  const weeks = alerts.flatMap(({ appId, week }) => (appId !== null && week !== null ? [{ appId, week }] : []))
  const { apps } = await ask("get_overview", { order: "name" })
  const reported = apps.filter(({ revenue }) => revenue.state === "reported")
  const isShown = apps.every(({ revenue }) => revenue.state !== "hidden")
  const rows = reported.map(({ name, revenue }) => ({ app: name, amounts: revenue.proceeds }))
  const last = reported
    .map(({ revenue }) => revenue.to ?? "")
    .sort()
    .at(-1)
  return {
    isMeasured: weeks.length > 0,
    byApp: new Map(
      weeks.map(({ appId, week: { keywords, reviews } }) => [
        appId,
        {
          up: keywords.measured > 0 ? keywords.up + keywords.entered : null,
          down: keywords.measured > 0 ? keywords.down + keywords.dropped : null,
          reviews: reviews.length > 0 ? reviews.reduce((sum, { count }) => sum + count, 0) : null,
        },
      ]),
    ),
    money: isShown && last ? { about: `Proceeds of the seven days to ${last}.`, rows } : null,
  }
}

async function readReviews(ask: Ask, head: Head, days: { from: string; to: string }): Promise<DigestReview[]> {
  const found: DigestReview[] = []
  const feeds = new Set<string>()
  for (const side of sidesOf(head)) {
    const input = { appId: head.id, ...side, ...days, limit: MAX_REVIEWS }
    const answer = await attempted(ask("search_reviews", input))
    // storefronts with the same language share a feed on Google Play
    if (isFault(answer) || feeds.has(`${side.platform} ${answer.feed.feed}`)) continue
    feeds.add(`${side.platform} ${answer.feed.feed}`)
    found.push(...answer.reviews.map((review) => ({ ...review, ...side, app: head.name })))
  }
  return found
}

/** Changes of the app's own pages in its first storefront. */
async function readChanges(
  ask: Ask,
  head: Head,
  { from, to }: { from: string; to: string },
): Promise<Digest["changes"][number][]> {
  const first = sidesOf(head).filter(({ country }) => country === head.countries[0])
  const found: Digest["changes"][number][] = []
  for (const side of first) {
    const answer = await attempted(ask("get_timeline", { appId: head.id, ...side }))
    if (isFault(answer)) continue
    for (const { day, kind, before, after, title, up, down } of answer.changes) {
      if (day < from || day > to) continue
      const what = kind.replaceAll("_", " ")
      const values = after === null ? "" : before === null ? `: ${after}` : `: ${before} → ${after}`
      const moved = up + down > 0 ? `; since then ${up} keywords rose and ${down} fell` : ""
      found.push({ day, text: `${head.name}: ${title === null ? what : `${what} "${title}"`}${values}${moved}` })
    }
  }
  return found
}
