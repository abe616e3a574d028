import * as v from "valibot"
import type { Sql } from "../../database/types.ts"
import { uncut } from "../../database/uncut.ts"
import { type SideApp, sideOf } from "../../history/day-answers.ts"
import { readPlaces, type TermPlaces } from "../../history/places-above.ts"
import { preferredRating } from "../../history/rating-days.ts"
import { nameIn } from "../../observations/app-names.ts"
import { sourceOf } from "../../observations/types.ts"
import { ofApp, operation } from "../../operation.ts"
import { AppCountry, Platform } from "../../vocabulary/fields.ts"
import { described, extending, named } from "../../vocabulary/schema.ts"
import { parseRival } from "../../vocabulary/store-ids.ts"
import { Count, Day, Rank, RankSource, RatedApp, Store, Storefront, Time } from "../shapes.ts"

export const RivalTerm = named(
  "RivalTerm",
  v.strictObject({
    term: described(v.string(), "The tracked keyword."),
    theirRank: described(Rank, "The rival's."),
    ourRank: described(v.nullable(Rank), "Null = the tracked app was not among the results read."),
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
        "Tracked keywords where it stands above the app; of a manual rival all it holds.",
      ),
      manual: described(v.boolean(), "Named by hand: listed wherever it stands."),
    }),
  ),
)

const MOST = 50

export const listRivals = operation({
  id: "list_rivals",
  method: "GET",
  path: "/apps/:appId/rivals",
  group: "Your apps",
  toolset: "rivals",
  summary: "The apps that rank above the app on its tracked keywords.",
  description:
    "From the results of the latest measured day, as list_keyword_ranks shows it. The most keywords first, then the best rank; at most 50, rivals named by hand among them. add_rivals names rivals, remove_rivals hides them; get_rival has one in full.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({ country: AppCountry, platform: Platform }),
  narrow: { rows: ["rivals"] },
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    day: described(
      v.nullable(Day),
      "The UTC day of the results; null = never measured. Each keyword's moment and source stand in list_keyword_ranks.",
    ),
    measuredAt: described(v.nullable(Time), "When the latest of that day's results was seen; null = never measured."),
    sources: described(v.array(RankSource), "Who read them, the preferred first."),
    rivals: described(v.array(Rival), "The most keywords first, then the best rank."),
    omitted: described(Count, `Rivals beyond the first ${MOST}.`),
  }),
}).run(async ({ app, storefront, platform }, { sql, pause }) => {
  const named = (app.manualRivals ?? []).map(parseRival)
  const manual = named.flatMap((rival) => (rival?.platform === platform ? [rival.id] : []))
  const side = sideOf(app, { storefront, platform })
  const known = await readNamed(sql, side, manual)
  const places = await readStanding(sql, side, known, pause)
  const rivals = await readShown(sql, { storefront, countries: app.countries }, mostFirst(places.standings, known))
  const terms = await termsOf(places.pieces, new Set(rivals.map(({ app }) => app)), known, pause)
  return {
    country: storefront,
    platform,
    ...momentOf(places.pieces.flat()),
    rivals: rivals.map(({ app, ...rival }) => ({ ...rival, terms: (app !== null && terms.get(app)) || [] })),
    omitted: countRivals(places.standings, known) - rivals.length,
  }
})

interface ManualRivals {
  /** store_app ids of the rivals named by hand; null where no store has shown it here. */
  named: { id: string; app: number | null }[]
  hidden: number[]
  own: number | null
}

async function readNamed(
  sql: Sql,
  { appId, platform, own }: SideApp,
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
    order by hidden, id
    limit 100000`.then(uncut(100_000))
  const hidden = rows.flatMap(({ app, hidden }) => (hidden && app !== null ? [app] : []))
  return { named: rows.filter(({ hidden }) => !hidden), hidden, own }
}

interface Standing {
  terms: number
  best: number
}

/** On how many keywords each app stands as a rival, and how well at best. */
async function readStanding(sql: Sql, side: SideApp, known: ManualRivals, pause: () => Promise<void>) {
  const standings = new Map<number, Standing>()
  const pieces: TermPlaces[][] = []
  for await (const piece of readPlaces(sql, side, { onlyAbove: known.named.length === 0, pause })) {
    pieces.push(piece)
    eachStanding(piece, known, (app, theirRank) => {
      const standing = standings.get(app)
      if (!standing) standings.set(app, { terms: 1, best: theirRank })
      else {
        standing.terms++
        if (theirRank < standing.best) standing.best = theirRank
      }
    })
  }
  return { standings, pieces }
}

type StandingVisitor = (app: number, theirRank: number, of: TermPlaces) => void

/** An app is a rival where it stands above the app, one named by hand wherever it stands, one taken away nowhere. */
function eachStanding(piece: readonly TermPlaces[], { named, hidden, own }: ManualRivals, on: StandingVisitor): void {
  const wherever = new Set(named.map(({ app }) => app))
  const nowhere = new Set([...hidden, own])
  for (const of of piece) {
    const { ourRank, apps } = of
    const above = ourRank === null ? apps.length : ourRank - 1
    // of a million places each an object of its own would be too much
    for (let place = 0; place < apps.length; place++) {
      const app = apps[place] as number
      if (nowhere.has(app) || (place >= above && !wherever.has(app))) continue
      on(app, place + 1, of)
    }
  }
}

interface Candidate {
  app: number | null
  /** Of one named by hand. */
  id: string | null
  terms: number
  best: number | null
}

/** All named by hand, and of the others the first, those that only their store ids put in order after them included. */
function mostFirst(standings: ReadonlyMap<number, Standing>, { named }: ManualRivals): Candidate[] {
  const byHand = named.map(({ id, app }): Candidate => {
    return { app, id, terms: 0, best: null, ...(app !== null && standings.get(app)) }
  })
  const taken = new Set(named.map(({ app }) => app))
  const others = [...standings]
    .filter(([app]) => !taken.has(app))
    .sort(([, a], [, b]) => b.terms - a.terms || a.best - b.best)
  const last = others[MOST - 1]?.[1]
  const first = last ? others.filter(([, one]) => one.terms > last.terms || (one.terms === last.terms && one.best <= last.best)) : others // biome-ignore format: one line
  return [...byHand, ...first.map(([app, standing]) => ({ app, id: null, ...standing }))]
}

function countRivals(standings: ReadonlyMap<number, Standing>, { named }: ManualRivals): number {
  return standings.size + named.filter(({ app }) => app === null || !standings.has(app)).length
}

interface ShownPlace {
  storefront: string
  /** Of the app, in its order. */
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
      limit ${MOST}
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

async function termsOf(
  pieces: readonly TermPlaces[][],
  shown: ReadonlySet<number | null>,
  known: ManualRivals,
  pause: () => Promise<void>,
): Promise<Map<number, v.InferOutput<typeof RivalTerm>[]>> {
  const terms = new Map<number, v.InferOutput<typeof RivalTerm>[]>()
  for (const piece of pieces) {
    eachStanding(piece, known, (app, theirRank, { term, ourRank }) => {
      if (!shown.has(app)) return
      const held = terms.get(app) ?? []
      if (held.length === 0) terms.set(app, held)
      held.push({ term, theirRank, ourRank })
    })
    await pause()
  }
  return terms
}

/** When and by whom the results were read that the rivals come from. */
function momentOf(places: readonly TermPlaces[]) {
  const seenAt = places.reduce<Date | null>((last, { seenAt }) => (last && last > seenAt ? last : seenAt), null)
  const sources = [...new Set(places.map(({ source }) => source))].sort((a, b) => a - b)
  return { day: places[0]?.day ?? null, measuredAt: seenAt?.toISOString() ?? null, sources: sources.map(sourceOf) }
}
