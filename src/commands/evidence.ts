import type { Platform } from "../core/observation/provenance.ts"
import type { Sql } from "../database/types.ts"
import { type Evidence, type KeywordEvidence, readKeywordEvidence } from "../keywords/read/keyword-evidence.ts"
import { dayOf } from "../lib/days.ts"
import { isStorefront } from "../lib/storefronts.ts"
import { normaliseTerm } from "../lib/term.ts"
import { openRawBodies } from "../measuring/raw-bodies.ts"
import { SOURCES } from "../sources.ts"
import { isTracked } from "../tracking/terms.ts"
import { type Command, CommandProblem, type Invocation, WrongUse } from "./cli/command.ts"
import { dayGiven } from "./cli/day.ts"
import { printable, show, table } from "./cli/show.ts"
import { assertMade } from "./cli/whole-database.ts"
import { useDatabase } from "./cli/with-database.ts"
import { findTracked } from "./tracking/app.ts"

export const evidence: Command = {
  name: "evidence",
  summary: "Show where the figures of an app's keyword come from.",
  details: "Lists the source, address, time, parser and response of each figure.",
  examples: [
    ["evidence --app app_4fD0Zs81hQbK --country us --term 'tide times'", "the current figures"],
    ["evidence --app app_4fD0Zs81hQbK --country us --term tides --day 2025-11-19 --json", "the figures of a day"],
  ],
  options: {
    app: { value: "APP", meaning: "Id, store id, package name or name of the app." },
    country: { value: "CODE", meaning: "The storefront." },
    term: { value: "TERM", meaning: "The keyword." },
    platform: { value: "STORE", meaning: "ios or android. Default: every store of the app." },
    day: { value: "YYYY-MM-DD", meaning: "The day. Default: the latest measured day of the keyword." },
  },
  async run(invocation) {
    const { settings } = invocation
    const query = askedFor(invocation)
    assertMade(settings)
    const bodies = openRawBodies(settings.measuring.raw)
    const today = dayOf(new Date())
    const [about, shown] = await useDatabase(invocation, async (sql) => {
      const { id } = await findTracked(sql, query.app)
      const apps = await storeApps(sql, id, query.platform)
      const { storefront, term, day } = query
      const each: KeywordEvidence[] = []
      for (const { platform, ...app } of apps)
        each.push(
          await readKeywordEvidence(
            { sql, bodies, sources: SOURCES },
            { list: { platform, storefront, term }, app, day, today },
          ),
        )
      return [{ app: id, tracked: await isTracked(sql, id, query) }, each] as const
    })
    const { app, tracked } = about
    show(invocation, { app, tracked, evidence: shown }, () => shown.flatMap((one) => lines(one, tracked)))
    return 0
  },
}

function askedFor(invocation: Invocation) {
  const { text } = invocation
  const [app, country, written] = [text("app"), text("country")?.toLowerCase(), text("term")]
  if (app === undefined || country === undefined || written === undefined)
    throw new WrongUse("--app, --country and --term are required")
  if (!isStorefront(country)) throw new WrongUse("--country must be the two-letter code of a storefront, such as us")
  const term = normaliseTerm(written)
  if (term === "") throw new WrongUse("--term must not be empty")
  const platform = (["ios", "android"] as const).find((one) => one === text("platform"))
  if (text("platform") !== undefined && !platform) throw new WrongUse("--platform must be ios or android")
  return { app, storefront: country, term, platform, day: dayGiven(invocation, "day") }
}

async function storeApps(sql: Sql, appId: string, platform: Platform | undefined) {
  const rows = await sql<{ platform: Platform; id: number; storeId: string }[]>`
    select s.platform, s.id, s.store_id as "storeId"
    from tracked_app t
    join store_app s on s.id in (t.ios_app, t.android_app)
    where t.id = ${appId}
    order by s.platform desc
    limit 2`
  const matching = rows.filter((row) => platform === undefined || row.platform === platform)
  if (matching.length === 0) throw new CommandProblem("the app has no store app for that --platform")
  return matching
}

function lines(shown: KeywordEvidence, tracked: boolean): string[] {
  const { platform, storefront, term, day, readings, metrics, ratings } = shown
  const why = tracked ? "not measured" : "not measured, because the app does not track the keyword there"
  const rows = [
    ...readings.map((one, place) => [
      place === 0 && one.complete ? "rank" : "other reading",
      `${one.rank ?? "absent"} of ${one.depth}${one.complete ? "" : ", incomplete"}`,
      ...origin(one.source, one.seenAt, one.parser, one),
    ]),
    ...(readings.some(({ complete }) => complete) ? [] : [["rank", why]]),
    ...metrics.flatMap(({ metric, score, source, seenAt, formula, restsOn }) => [
      [metric, score ?? "not available", formula > 0 ? `${source}, formula ${formula}` : source, moment(seenAt)],
      ...restsOn.map((read) => [
        "  based on",
        read.prefix === undefined ? "" : printable(read.prefix),
        ...origin(read.source, new Date(read.seenAt), null, read),
      ]),
    ]),
    ...ratings.map((one) => [
      "ratings",
      `${one.ratings ?? "-"} at ${one.rating ?? "-"}`,
      ...origin(one.source, one.seenAt, one.parser, one),
    ]),
  ]
  const heading = `${printable(term)}, ${storefront}, ${platform}, ${day}`
  return [
    heading,
    ...table(["FIGURE", "VALUE", "SOURCE", "READ AT", "PARSER", "RESPONSE", "ADDRESS"], rows.map(padded)),
    "",
  ]
}

type Cell = string | number | null

function origin(source: string, seenAt: Date, parser: number | null, of: Evidence & { sha256: string | null }): Cell[] {
  const body = of.sha256 === null ? null : `${of.sha256.slice(0, 12)}${of.bodyKept ? ", stored" : ""}`
  return [source, moment(seenAt), parser, body, of.url]
}

function padded(row: Cell[]): Cell[] {
  return Array.from({ length: 7 }, (_, column) => row[column] ?? null)
}

function moment(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`
}
