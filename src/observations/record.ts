import { Buffer } from "node:buffer"
import type { Sql, Tx } from "../database/types.ts"
import { dayOf, monthOf } from "../formulas/days.ts"
import { checkSearch, ObservationProblem } from "./check.ts"
import { deriveMonths } from "./derive-month.ts"
import { storeFacts } from "./facts.ts"
import { appIds, holdIdentities, listIds, lockLists } from "./identities.ts"
import { DEMO, type Observation, type SearchObservation, SOURCE_CODES } from "./types.ts"

export interface Recorded {
  /** Readings that were new, or replaced a lesser one of the same moment and source. */
  recorded: number
  /** Readings that were there already, or are held in a better form. */
  known: number
  /** Those that break an invariant, by their place in the call; nothing of them is stored. */
  refused: { index: number; problem: ObservationProblem }[]
}

/**
 * Stores measurements; no other code does. One transaction for the call, so keep to some 500 readings: the readings,
 * what they show of apps, and what is derived for tracked apps are there together or not at all. Safe from several
 * processes at once. Of readings of the same list, source and moment the best is held, whichever came first: any before
 * the demo's, then that of the newer parser, a complete one before one that broke off, the deeper, the greater sha256.
 * The day of a reading is the UTC day of its `seenAt`.
 */
export async function record(
  sql: Sql,
  observations: readonly Observation[],
  now: () => Date = () => new Date(),
): Promise<Recorded> {
  const { sound, refused } = sift(observations, now())
  if (sound.length === 0) return { recorded: 0, known: 0, refused }
  await openMonths(sql, sound)
  const recorded = await again(() => sql.begin((tx) => store(tx, sound)))
  return { recorded, known: sound.length - recorded, refused }
}

/** Sets the days between which lists have readings that answer, after readings came or went. Needs the lists' lock. */
export async function recountDays(tx: Tx, lists: readonly number[]): Promise<void> {
  await tx`
    update list l
    set first_day = d.first_day, last_day = d.last_day
    from (
      select id,
        (select min(day) from search_results where list_id = id and complete) as first_day,
        (select max(day) from search_results where list_id = id and complete) as last_day
      from unnest(${lists as number[]}::int[]) id
    ) d
    where l.id = d.id and (l.first_day, l.last_day) is distinct from (d.first_day, d.last_day)`
}

function sift(observations: readonly Observation[], now: Date) {
  const sound: SearchObservation[] = []
  const refused: Recorded["refused"] = []
  observations.forEach((observation, index) => {
    try {
      checkSearch(observation, now)
      sound.push(observation)
    } catch (error) {
      if (!(error instanceof ObservationProblem)) throw error
      refused.push({ index, problem: error })
    }
  })
  return { sound, refused }
}

// In a transaction of its own: attaching waits for writers of `list`, and they must never wait for it in turn.
async function openMonths(sql: Sql, readings: readonly SearchObservation[]): Promise<void> {
  const months = [...new Set(readings.map(({ seenAt }) => monthOf(dayOf(seenAt))))].sort()
  await sql`
    select open_month(month)
    from unnest(${months}::date[]) month
    where to_regclass('list_month' || to_char(month, '_YYYY_MM')) is null
    order by month`
}

const TRIES = 4

// Everybody locks in one order, but for a transaction that tracks several apps: it takes its lists in its own.
async function again<T>(run: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await run()
    } catch (error) {
      if ((error as { code?: string }).code !== "40P01" || tried === TRIES) throw error
    }
  }
}

interface Row {
  reading: SearchObservation
  listId: number
  appIds: number[]
  key: string
}

async function store(tx: Tx, readings: readonly SearchObservation[]): Promise<number> {
  await holdIdentities(tx)
  const rows = await identify(tx, readings)
  await lockLists(
    tx,
    rows.map(({ listId }) => listId),
  )
  const changed: Row[] = []
  for (const wave of wavesOf(rows)) changed.push(...(await upsert(tx, wave)))
  if (changed.length === 0) return 0
  await recountDays(tx, [...new Set(changed.map(({ listId }) => listId))])
  await storeFacts(tx, changed)
  await deriveMonths(
    tx,
    changed.map(({ listId, reading }) => ({ listId, month: monthOf(dayOf(reading.seenAt)) })),
  )
  return changed.length
}

async function identify(tx: Tx, readings: readonly SearchObservation[]): Promise<Row[]> {
  const lists = await listIds(tx, readings)
  const keys = new Map(
    readings.flatMap(({ platform, results }) =>
      results.map(({ id }) => [`${platform}:${id}`, { platform, id }] as const),
    ),
  )
  const found = await appIds(tx, [...keys.values()])
  const byKey = new Map([...keys.keys()].map((key, place) => [key, found[place] as number]))
  return readings.map((reading, place) => {
    const listId = lists[place] as number
    return {
      reading,
      listId,
      appIds: reading.results.map(({ id }) => byKey.get(`${reading.platform}:${id}`) as number),
      key: keyOf(listId, SOURCE_CODES[reading.source], reading.seenAt),
    }
  })
}

function keyOf(listId: number, source: number, seenAt: Date): string {
  return `${listId} ${source} ${seenAt.getTime()}`
}

/** The rows in their order, parted so that no key stands twice in a part: one statement writes a row once. */
function wavesOf(rows: readonly Row[]): Row[][] {
  const waves: Row[][] = []
  const seen = new Map<string, number>()
  for (const row of rows) {
    const wave = seen.get(row.key) ?? 0
    seen.set(row.key, wave + 1)
    waves[wave] ??= []
    waves[wave].push(row)
  }
  return waves
}

/** Writes readings that are new or better than what is held, and returns those. */
async function upsert(tx: Tx, rows: readonly Row[]): Promise<Row[]> {
  const written = await tx<{ listId: number; source: number; seenAt: Date }[]>`
    insert into search_results as held
      (list_id, day, source, seen_at, depth, complete, parser, origin, egress, sha256, app_ids)
    select list_id, day, source, seen_at, depth, complete, parser, origin, egress, decode(sha256, 'hex'), app_ids
    from jsonb_to_recordset(${tx.json(rows.map(stored))}) r (
      list_id int, day date, source smallint, seen_at timestamptz, depth smallint, complete boolean, parser smallint,
      origin text, egress text, sha256 text, app_ids int[]
    )
    order by list_id, day, source, seen_at
    on conflict (list_id, day, source, seen_at) do update
    set depth = excluded.depth, complete = excluded.complete, parser = excluded.parser, origin = excluded.origin,
      egress = excluded.egress, sha256 = excluded.sha256, app_ids = excluded.app_ids
    where (excluded.origin <> ${DEMO}, excluded.parser, excluded.complete, excluded.depth, excluded.sha256)
      > (held.origin <> ${DEMO}, held.parser, held.complete, held.depth, held.sha256)
    returning list_id as "listId", source, seen_at as "seenAt"`
  const keys = new Set(written.map(({ listId, source, seenAt }) => keyOf(listId, source, seenAt)))
  return rows.filter(({ key }) => keys.has(key))
}

function stored({ reading, listId, appIds }: Row) {
  const { source, seenAt, depth, complete, parser, origin, egress = null, sha256 } = reading
  return {
    list_id: listId,
    day: dayOf(seenAt),
    source: SOURCE_CODES[source],
    seen_at: seenAt.toISOString(),
    depth,
    complete,
    parser,
    origin,
    egress,
    sha256: Buffer.from(sha256).toString("hex"),
    app_ids: appIds,
  }
}
