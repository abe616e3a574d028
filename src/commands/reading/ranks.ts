import { setTimeout as sleep } from "node:timers/promises"
import type { AnswerOf } from "../../answers.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { sourceOn } from "../../lib/source-runs.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import { NOT_MEASURING } from "../../measuring/readers.ts"
import { type Command, CommandProblem, type ExitCode, type Terminal, WrongUse } from "../cli/command.ts"
import { CSV, csvOf, fitted, printable, table } from "../cli/show.ts"
import { type Ask, findApps, type ListedApp, useOperations, WORKSPACE } from "./ask.ts"
import { sparkline } from "./sparkline.ts"

/** Default number of days in the sparkline. */
const DAYS = 30
/** Maximum number of characters of the sparkline. */
const WIDEST = 30
const WATCH_MS = 5_000

export const ranks: Command = {
  name: "ranks",
  summary: "Show the latest rank of each tracked keyword and its recent history.",
  examples: [
    ["ranks", "every app in every tracked storefront"],
    ["ranks 'Tide Times' --country us --since 90d", "one app, by name, id or store id"],
    ["ranks --watch", "refresh every five seconds while the first readings arrive"],
  ],
  positionals: ["app?"],
  options: {
    workspace: WORKSPACE,
    country: { value: "CODE", meaning: "Only this storefront." },
    since: { value: "DAYS", meaning: `Days of history, such as 90d. Default: ${DAYS}d.` },
    ...CSV,
    watch: { meaning: "Refresh every five seconds until Ctrl-C." },
  },
  async run(invocation) {
    const { terminal, has, text, positionals } = invocation
    const days = daysGiven(text("since"))
    const country = text("country")?.toLowerCase()
    if (has("watch") && terminal.columns() === undefined) throw new WrongUse("--watch needs a terminal")
    return await useOperations<ExitCode>(invocation, async (ask) => {
      for (;;) {
        const sides = await readSides(ask, await findApps(ask, positionals[0]), { country, days })
        if (has("watch")) terminal.out(CLEAR)
        if (has("csv")) terminal.out(csvOf(COLUMNS, sides.flatMap(cellsOf)))
        else if (has("json")) terminal.json({ ranks: sides })
        else terminal.out(shownRanks(sides, terminal).join("\n").concat("\n"))
        if (!has("watch")) return 0
        await sleep(WATCH_MS)
      }
    })
  },
}

const COLUMNS = [
  "appId",
  "app",
  "country",
  "platform",
  "term",
  "measured",
  "rank",
  "change",
  "popularity",
  "popularityLow",
  "popularityHigh",
  "popularitySource",
  "difficulty",
  "source",
  "searchDepth",
  "measuredAt",
]

function cellsOf({ appId, app, country, platform, measuredAt, keywords }: RankSide) {
  return keywords.map((row) => [
    ...[appId, app, country, platform, row.term, row.measured, row.rank, row.change],
    ...[row.popularity, row.popularityLow, row.popularityHigh, row.popularitySource, row.difficulty],
    ...[row.source, row.searchDepth, row.measured ? measuredAt : null],
  ])
}

const CLEAR = "\u001b[H\u001b[2J\u001b[3J"

/** The ranks of an app in a storefront of a store. */
interface RankSide {
  app: string
  appId: string
  country: string
  platform: "ios" | "android"
  measuredAt: string | null
  days: string[]
  keywords: RankRow[]
}

type RankedKeyword = AnswerOf<"list_keyword_ranks">["keywords"][number]

interface RankRow
  extends Pick<
    RankedKeyword,
    | "term"
    | "measured"
    | "rank"
    | "popularity"
    | "popularityLow"
    | "popularityHigh"
    | "popularitySource"
    | "difficulty"
    | "source"
    | "searchDepth"
    | "measuring"
    | "notMeasuring"
  > {
  /**
   * Places gained since the previous measured day of the same source, or "in" or "out" if the app entered or left the
   * results. Null without such a day.
   */
  change: number | "in" | "out" | null
  /** The measured days of the last weeks, oldest first. Null if the plan or the store has no history. */
  series: History["series"] | null
}

interface RankWindow {
  country: string | undefined
  days: string[]
}

export async function readSides(
  ask: Ask,
  apps: readonly ListedApp[],
  { country, days = lastDays(DAYS) }: Partial<RankWindow>,
): Promise<RankSide[]> {
  const sides: RankSide[] = []
  for (const app of apps) {
    const stores = [...(app.iosId ? (["ios"] as const) : []), ...(app.androidPkg ? (["android"] as const) : [])]
    for (const storefront of app.countries.filter((code) => country === undefined || code === country))
      for (const platform of stores) sides.push(await readSide(ask, app, { country: storefront, platform, days }))
  }
  if (sides.length > 0) return sides
  const tracked = [...new Set(apps.flatMap(({ countries }) => countries))].join(", ")
  throw new WrongUse(
    `not tracked in that --country; ${apps.length === 1 ? "the app is" : "these apps are"} tracked in ${tracked}`,
  )
}

async function readSide(
  ask: Ask,
  app: ListedApp,
  { country, platform, days }: { country: string; platform: RankSide["platform"]; days: string[] },
): Promise<RankSide> {
  const { measuredAt, keywords } = await ask("list_keyword_ranks", { appId: app.id, country, platform })
  const window = windowDays(days, measuredAt?.slice(0, 10) ?? null)
  const histories = await readHistories(ask, app, { country, platform, days: window })
  return {
    app: app.name,
    appId: app.id,
    country,
    platform,
    measuredAt,
    days: window,
    keywords: keywords.map((keyword) => {
      const history = histories?.get(keyword.term)
      return {
        term: keyword.term,
        measured: keyword.measured,
        rank: keyword.rank,
        change: history && keyword.measured ? changeOf(history, keyword) : null,
        series: history?.series ?? null,
        popularity: keyword.popularity,
        popularityLow: keyword.popularityLow,
        popularityHigh: keyword.popularityHigh,
        popularitySource: keyword.popularitySource,
        difficulty: keyword.difficulty,
        source: keyword.source,
        searchDepth: keyword.searchDepth,
        measuring: keyword.measuring,
        notMeasuring: keyword.notMeasuring,
      }
    }),
  }
}

/**
 * Returns `days`. If the latest reading is older than all of them, returns the same number of days that end with that
 * reading.
 */
function windowDays(days: string[], measured: string | null): string[] {
  if (measured === null || measured >= (days[0] as string)) return days
  return days.map((_, at) => addDays(measured, at + 1 - days.length))
}

type History = AnswerOf<"get_rank_history">["keywords"][number]

/**
 * Returns the histories by keyword. Null if there are none: for an app in both stores only App Store ranks have a
 * history, and some plans have none.
 */
async function readHistories(
  ask: Ask,
  app: ListedApp,
  { country, platform, days }: { country: string; platform: RankSide["platform"]; days: string[] },
): Promise<Map<string, History> | null> {
  if (platform === "android" && app.iosId !== null) return null
  try {
    const { keywords } = await ask("get_rank_history", { appId: app.id, country, from: days[0], to: days.at(-1) })
    return new Map(keywords.map((keyword) => [keyword.term, keyword]))
  } catch (error) {
    if (error instanceof CommandProblem) return null
    throw error
  }
}

/**
 * Returns the change of the rank. An absence counts as a drop only if the results were read at least as deep as the
 * previous rank.
 */
function changeOf(
  { series, sources }: History,
  { rank, searchDepth }: Pick<RankRow, "rank" | "searchDepth">,
): RankRow["change"] {
  const [latest, before] = [series.at(-1), series.at(-2)]
  if (!latest || !before || sourceOn(sources, latest[0]) !== sourceOn(sources, before[0])) return null
  const earlier = before[1]
  if (rank !== null && earlier !== null) return earlier - rank
  if (rank !== null) return "in"
  return earlier !== null && (searchDepth ?? 0) >= earlier ? "out" : null
}

function daysGiven(text: string | undefined): string[] {
  const count = Number(/^([1-9]\d{0,2})d?$/.exec(text ?? String(DAYS))?.[1])
  if (!count || count > 730) throw new WrongUse("--since must be 1 to 730 days, such as 90d")
  return lastDays(count)
}

function lastDays(count: number): string[] {
  const today = dayOf(new Date())
  return Array.from({ length: count }, (_, at) => addDays(today, at + 1 - count))
}

/** Returns a table for each side, with a legend. */
export function shownRanks(sides: readonly RankSide[], terminal: Terminal): string[] {
  return sides.flatMap((side, at) => [...(at > 0 ? [""] : []), ...sideLines(side, terminal)])
}

function sideLines(side: RankSide, terminal: Terminal): string[] {
  const { app, country, platform, days, keywords } = side
  const store = platform === "ios" ? "App Store" : "Google Play"
  const heading = `${terminal.bold(printable(app))}, ${store}, ${storefrontName(country)}`
  if (keywords.length === 0) return [heading, "  no tracked keywords; add some with: appmeter app keywords add"]
  const hasLine = keywords.some(({ series }) => series !== null)
  const rows = keywords.map((keyword) => [
    printable(keyword.term),
    rankText(keyword),
    changeText(keyword, terminal),
    ...(hasLine ? [sparkline(keyword.series ?? [], days, WIDEST)] : []),
    keyword.popularity ??
      (keyword.popularityLow === null ? null : `${keyword.popularityLow}–${keyword.popularityHigh}`),
    keyword.difficulty,
  ])
  const line = hasLine ? [days.at(-1) === dayOf(new Date()) ? `LAST ${days.length} DAYS` : `TO ${days.at(-1)}`] : []
  const lines = table(["KEYWORD", "RANK", "CHANGE", ...line, "POPULARITY", "DIFFICULTY"], rows)
  const notes = notesOf(side, hasLine).map((note) => terminal.paint("faint", note))
  return [heading, ...[...lines, ...notes].map((text) => fitted(`  ${text}`, terminal.columns()))]
}

/** Returns the rank, or "not in" and the depth if the app was absent. Null if not measured. */
function rankText({ measured, rank, searchDepth }: RankRow): string | null {
  if (!measured) return null
  return rank === null ? `not in ${searchDepth ?? "those read"}` : String(rank)
}

function changeText({ change }: RankRow, { paint }: Terminal): string {
  if (change === null) return ""
  if (change === "in") return paint("good", "new")
  if (change === "out") return paint("bad", "gone")
  if (change === 0) return "="
  return change > 0 ? paint("good", `▲ ${change}`) : paint("bad", `▼ ${-change}`)
}

function notesOf({ keywords, measuredAt }: RankSide, hasLine: boolean): string[] {
  const sources = [...new Set(keywords.flatMap(({ source }) => source ?? []))]
  const unmeasured = keywords.filter(({ measured }) => !measured)
  const reading = unmeasured.filter(({ measuring }) => measuring).length
  const idle = new Set(unmeasured.flatMap(({ notMeasuring }) => notMeasuring ?? []))
  const reasons = [...idle].map((why) => NOT_MEASURING[why])
  return [
    ...(measuredAt === null
      ? []
      : [`measured ${measuredAt.slice(0, 16).replace("T", " ")} UTC, ${sources.join(", ")}`]),
    ...(reading > 0 ? [`${reading} not measured yet, but being read or next in line`] : []),
    ...(reasons.length > 0 ? [`${unmeasured.length - reading} not measured: ${reasons.join(", ")}`] : []),
    ...(hasLine ? ["· not measured   – not in the results   ~ our estimate"] : []),
  ]
}
