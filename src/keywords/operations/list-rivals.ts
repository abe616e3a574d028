import * as v from "valibot"
import { ofApp, operation } from "../../core/operation.ts"
import type { Sql } from "../../database/types.ts"
import { AppNumbers } from "../../lib/app-numbers.ts"
import { AppCountry, Platform } from "../../lib/fields.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import { described, extending, named } from "../../lib/schema.ts"
import { parseRival } from "../../lib/store-ids.ts"
import { preferredRating } from "../../stores/read/rating-days.ts"
import { nameIn } from "../../stores/store/app-names.ts"
import { Count, Day, Rank, RankSource, RatedApp, Store, Storefront, Time } from "../../tracking/shapes.ts"
import { type SideApp, sideOf } from "../read/day-answers.ts"
import { readPlaces, type TermPlaces } from "../read/places-above.ts"

export const RivalTerm = named(
  "RivalTerm",
  v.strictObject({
    term: described(v.string(), "The tracked keyword."),
    theirRank: described(Rank, "Rank of the rival."),
    ourRank: described(v.nullable(Rank), "Rank of the tracked app. Null if absent from the results read."),
  }),
)

const Rival = named(
  "Rival",
  extending(
    RatedApp,
    v.strictObject({
      ...RatedApp.entries,
      terms: described(
        v.array(RivalTerm),
        "Tracked keywords where it ranks above the app; for a rival added by hand, all tracked keywords it ranks for.",
      ),
      manual: described(v.boolean(), "True if added by hand. Such a rival is listed at any rank."),
    }),
  ),
)

const MAX_RIVALS = 50

export const listRivals = operation({
  id: "list_rivals",
  method: "GET",
  path: "/apps/:appId/rivals",
  group: "Your apps",
  toolset: "rivals",
  summary: "Lists the apps that rank above the app on its tracked keywords.",
  description:
    "Based on the results of the latest measured day, as in list_keyword_ranks. Rivals with the most keywords " +
    "come first, then by best rank; at most 50, including rivals added by hand. add_rivals adds rivals, " +
    "remove_rivals hides them; get_rival shows one in full.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({ country: AppCountry, platform: Platform }),
  narrow: { rows: ["rivals"] },
  table: "rivals",
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    day: described(
      v.nullable(Day),
      "UTC day of the results. Null if never measured. list_keyword_ranks has the time and source of each keyword.",
    ),
    measuredAt: described(v.nullable(Time), "Time of that day's latest reading. Null if never measured."),
    sources: described(v.array(RankSource), "Sources of the results, the preferred source first."),
    rivals: described(v.array(Rival), "Most keywords first, then by best rank."),
    omitted: described(Count, `Rivals beyond the first ${MAX_RIVALS}.`),
  }),
}).run(async ({ app, storefront, platform }, { sql }) => {
  const named = (app.manualRivals ?? []).map(parseRival)
  const manual = named.flatMap((rival) => (rival?.platform === platform ? [rival.id] : []))
  const side = sideOf(app, { storefront, platform })
  const namedRivals = await readNamed(sql, side, manual)
  const standings = await readStandings(sql, side, namedRivals)
  const rivals = await readShown(sql, { storefront, countries: app.countries }, mostFirst(standings, namedRivals))
  const shownApps = rivals.map(({ app }) => app)
  const terms = termsOf(standings, shownApps)
  return {
    country: storefront,
    platform,
    ...momentOf(standings.pieces.flat()),
    rivals: rivals.map(({ app, ...rival }) => ({ ...rival, terms: (app !== null && terms.get(app)) || [] })),
    omitted: countRivals(standings, namedRivals) - rivals.length,
  }
})

interface ManualRivals {
  /** The rivals added by hand with their store_app ids. An id is null if no reading of this store has shown the app. */
  named: { id: string; app: number | null }[]
  hidden: number[]
  ownApp: number | null
}

async function readNamed(
  sql: Sql,
  { appId, platform, storeAppId }: SideApp,
  manual: readonly string[],
): Promise<ManualRivals> {
  const rows = await sql<{ id: string; app: number | null; hidden: boolean }[]>`
    select m.id, a.id as app, false as hidden
    from (select distinct unnest(${manual as string[]}::text[])) m (id)
    left join store_app a on (a.platform, a.store_id) = (${platform}, m.id)
    union all
    select s.store_id, s.id, true
    from tracked_app t
    cross join lateral unnest(t.hidden_rivals) h (rival)
    join store_app s on (s.platform, s.store_id) = (${platform}, split_part(h.rival, ':', 2))
    where t.id = ${appId} and split_part(h.rival, ':', 1) = ${platform}
    order by hidden, id`
  const hidden = rows.flatMap(({ app, hidden }) => (hidden && app !== null ? [app] : []))
  return { named: rows.filter(({ hidden }) => !hidden), hidden, ownApp: storeAppId }
}

/** The apps in the results of the keywords, identified by numbers, with how often and how well each ranks. */
interface Standings {
  numbers: AppNumbers
  /** The kinds of the first numbers: apps added by hand, hidden apps, and the app itself. */
  kinds: readonly Kind[]
  /** The number of keywords for which each app counts as a rival. */
  terms: number[]
  /** The best rank of each app. */
  best: number[]
  /** The apps of each result, as numbers. */
  pieces: TermPlaces[][]
}

/** Whether an app counts as a rival at any rank (`wherever`) or at none (`nowhere`). */
type Kind = "wherever" | "nowhere"

async function readStandings(sql: Sql, side: SideApp, { named, hidden, ownApp }: ManualRivals): Promise<Standings> {
  const kinds: Kind[] = []
  const standings: Standings = { numbers: new AppNumbers(), kinds, terms: [], best: [], pieces: [] }
  const { numbers, terms, best } = standings
  for (const { app } of named) if (app !== null) kinds[numbers.numberOf(app)] = "wherever"
  for (const app of [...hidden, ownApp]) if (app !== null) kinds[numbers.numberOf(app)] = "nowhere"
  for await (const piece of readPlaces(sql, side, { onlyAbove: named.length === 0 })) {
    for (const { apps } of piece)
      for (let place = 0; place < apps.length; place++) apps[place] = numbers.numberOf(apps[place] as number)
    standings.pieces.push(piece)
    // Arrays without holes take half the time.
    while (terms.length < numbers.ids.length) best[terms.push(0) - 1] = WORTH
    eachStanding(piece, kinds, (number, theirRank) => {
      terms[number]!++
      if (theirRank < best[number]!) best[number] = theirRank
    })
  }
  return standings
}

type StandingVisitor = (number: number, theirRank: number, of: TermPlaces) => void

/**
 * Calls `on` for each place of a rival: an app above the app itself, or at any rank an app that was added by hand.
 * Skips hidden apps.
 */
function eachStanding(piece: readonly TermPlaces[], kinds: readonly Kind[], on: StandingVisitor): void {
  for (const of of piece) {
    const { ourRank, apps } = of
    const above = ourRank === null ? apps.length : ourRank - 1
    // An object for each of a million places would take too much memory.
    for (let place = 0; place < apps.length; place++) {
      const number = apps[place] as number
      const kind = number < kinds.length ? kinds[number] : undefined
      if (kind === "nowhere" || (place >= above && kind !== "wherever")) continue
      on(number, place + 1, of)
    }
  }
}

interface Candidate {
  app: number | null
  /** The store id of a rival added by hand. */
  id: string | null
  terms: number
  best: number | null
}

/** Returns all rivals added by hand and the best other rivals, including all that tie with the last of these. */
function mostFirst({ numbers, kinds, terms, best }: Standings, { named }: ManualRivals): Candidate[] {
  const candidate = (app: number | null, id: string | null): Candidate => {
    const number = app === null ? -1 : numbers.numberOf(app)
    return { app, id, terms: terms[number] ?? 0, best: terms[number] ? best[number]! : null }
  }
  // Apps with more keywords come first, and among equal numbers those with the better best rank.
  const worth = Int32Array.from({ length: terms.length }, (_, number) =>
    kinds[number] === undefined && terms[number] ? terms[number] * WORTH - (best[number] as number) : 0,
  )
  const least = Math.max(1, worth.toSorted().at(-MAX_RIVALS) ?? 1)
  const first = [...worth.keys()].filter((number) => (worth[number] as number) >= least)
  return [
    ...named.map(({ id, app }) => candidate(app, id)),
    ...first.map((number) => candidate(numbers.ids[number] as number, null)),
  ]
}

/** Greater than any rank. */
const WORTH = 1_000

function countRivals({ numbers, terms }: Standings, { named }: ManualRivals): number {
  const unseen = named.filter(({ app }) => app === null || !terms[numbers.numberOf(app)])
  return terms.filter((count) => count > 0).length + unseen.length
}

interface ShownPlace {
  storefront: string
  /** The app's storefronts, in its order. */
  countries: readonly string[]
}

async function readShown(sql: Sql, { storefront, countries }: ShownPlace, candidates: readonly Candidate[]) {
  const name = nameIn(sql, sql`l.app`, { storefront, countries })
  return await sql<(Omit<v.InferOutput<typeof Rival>, "terms"> & { app: number | null })[]>`
    with listed as materialized (
      select k.app, coalesce(k.id, a.store_id) as id, k.terms, k.best, k.id is not null as manual
      from unnest(
        ${candidates.map(({ app }) => app)}::int[],
        ${candidates.map(({ id }) => id)}::text[],
        ${candidates.map(({ terms }) => terms)}::int[],
        ${candidates.map(({ best }) => best)}::int[]
      ) k (app, id, terms, best)
      left join store_app a on a.id = k.app
      order by manual desc, k.terms desc, k.best, coalesce(k.id, a.store_id) collate "C"
      limit ${MAX_RIVALS}
    )
    select l.app, l.id, coalesce(${name}, l.id) as name, c.ratings, c.day as "ratingsDay", c.source as "ratingsSource",
      l.manual
    from listed l
    left join lateral (
      select ratings, day, source
      from rating_count
      where app_id = l.app and storefront = ${storefront} and ratings is not null
      order by day desc, ${preferredRating(sql)}
      limit 1
    ) c on true
    order by l.terms desc, l.best, l.id collate "C"`
}

/** Returns the terms of each app shown. */
function termsOf(
  { numbers, kinds, pieces }: Standings,
  shown: readonly (number | null)[],
): Map<number, v.InferOutput<typeof RivalTerm>[]> {
  const all = shown.flatMap((app) => (app === null ? [] : [{ app, terms: [] as Term[] }]))
  // Indexed by app number: the app's index among the apps shown, plus 1; 0 if it is not shown.
  const places = new Int32Array(numbers.ids.length + all.length)
  for (const [at, { app }] of all.entries()) places[numbers.numberOf(app)] = at + 1
  for (const piece of pieces)
    eachStanding(piece, kinds, (number, theirRank, { term, ourRank }) => {
      const place = places[number] as number
      if (place > 0) all[place - 1]!.terms.push({ term, theirRank, ourRank })
    })
  return new Map(all.map(({ app, terms }) => [app, terms]))
}

type Term = v.InferOutput<typeof RivalTerm>

/** Returns the day, time and sources of the results that the rivals come from. */
function momentOf(places: readonly TermPlaces[]) {
  const seenAt = places.reduce<Date | null>((last, { seenAt }) => (last && last > seenAt ? last : seenAt), null)
  const sources = [...new Set(places.map(({ source }) => source))].sort((a, b) => a - b)
  return { day: places[0]?.day ?? null, measuredAt: seenAt?.toISOString() ?? null, sources: sources.map(sourceOf) }
}
