import { type AnyKind, kindNamed, type StoreResult } from "../../core/kind.ts"
import type { ReportSets, RowsObservation, StagedSets } from "../../core/observation/facts.ts"
import { ObservationProblem } from "../../core/observation/invariants.ts"
import { type AnyObservation, isOfStore } from "../../core/observation/provenance.ts"
import type { SurrogateIds } from "../../core/observation/subjects.ts"
import type {
  MarketReading,
  Recording,
  RecordingModel,
  RecordObservations,
  SeenApps,
  StoredApps,
} from "../../core/recording.ts"
import type { Sql, Tx } from "../../database/types.ts"
import type { Observation } from "../../kinds.ts"
import { dayOf, monthOf } from "../../lib/days.ts"
import { checkAttempt, recordAttempt } from "./attempts.ts"
import { lockCharts } from "./chart-identities.ts"
import { checkObservation } from "./check.ts"
import { identify } from "./identified.ts"
import { holdIdentities, lockLists, lockSeries } from "./identities.ts"
import { assertFresh, PIECE_ROWS, storePieces } from "./report-sets.ts"

export function createRecording(model: RecordingModel): Recording {
  return {
    ...model,
    record: createRecord(model),
    recordAttempt: (sql, attempt, now) => recordAttempt(sql, attempt, model.kinds, now),
    checkObservation: (observation, now) => checkObservation(observation, now, model.kinds),
    checkAttempt: (attempt, now) => checkAttempt(attempt, now, model.kinds),
  }
}

function createRecord(model: RecordingModel): RecordObservations {
  const { kinds } = model
  return async (sql, observations, now = () => new Date(), { finish, all, noteMs, isImport = false } = {}) => {
    const { sound, refused } = sift(observations, now(), kinds)
    if (all && refused[0]) throw refused[0].problem
    if (sound.length === 0 && !finish) return { recorded: 0, alreadyStored: 0, refused }
    await openMonths(sql, sound, kinds)
    const staged = await storeReportPieces(sql, sound, kinds)
    const parts = inParts(sound, kinds, staged)
    let recorded = 0
    for (const [place, part] of parts.entries())
      recorded += await retryDeadlocks(() =>
        sql.begin(async (tx) => {
          const startedAt = performance.now()
          const count = part.length > 0 ? await store(tx, part, model, { staged, isImport, now: now() }) : 0
          if (place === parts.length - 1) await finish?.(tx)
          noteMs?.(performance.now() - startedAt)
          return count
        }),
      )
    return { recorded, alreadyStored: sound.length - recorded, refused }
  }
}

/**
 * Stores the rows of large reports before the main transaction, so that other transactions do not wait. Nothing
 * references these rows until the main transaction does.
 */
async function storeReportPieces(
  sql: Sql,
  sound: readonly Observation[],
  kinds: readonly AnyKind[],
): Promise<ReportSets> {
  const staged = new Map<AnyObservation, StagedSets>()
  for (const observation of sound) {
    const { facts } = kindNamed(observation.kind, kinds) ?? {}
    if (!facts || rowsOf(observation) <= PIECE_ROWS) continue
    const sets = await storePieces(sql, observation as RowsObservation, facts)
    if (sets) staged.set(observation, sets)
  }
  return staged
}

/**
 * Splits observations into transactions, in order: small reports together, and all other observations with the last of
 * these reports.
 */
function inParts(sound: readonly Observation[], kinds: readonly AnyKind[], staged: ReportSets): Observation[][] {
  const parts: Observation[][] = []
  let part: Observation[] = []
  let rows = 0
  for (const observation of sound.filter(({ kind }) => kindNamed(kind, kinds)?.facts)) {
    const rowCount = staged.has(observation) ? 1 : rowsOf(observation) + 1
    if (part.length > 0 && rows + rowCount > PIECE_ROWS) {
      parts.push(part)
      part = []
      rows = 0
    }
    part.push(observation)
    rows += rowCount
  }
  return [...parts, [...part, ...sound.filter(({ kind }) => !kindNamed(kind, kinds)?.facts)]]
}

function rowsOf(one: Observation): number {
  return "rows" in one ? one.rows.length : 0
}

function sift(observations: readonly Observation[], now: Date, kinds: readonly AnyKind[]) {
  const sound: Observation[] = []
  const refused: { index: number; problem: ObservationProblem }[] = []
  observations.forEach((observation, index) => {
    try {
      checkObservation(observation, now, kinds)
      sound.push(observation)
    } catch (error) {
      if (!(error instanceof ObservationProblem)) throw error
      refused.push({ index, problem: error })
    }
  })
  return { sound, refused }
}

// Runs in a transaction of its own: attaching a partition waits for writers of `list` and `chart`, which may wait for
// this transaction.
async function openMonths(sql: Sql, sound: readonly Observation[], kinds: readonly AnyKind[]): Promise<void> {
  const placed = sound.filter(({ kind }) => kindNamed(kind, kinds)?.monthly)
  const months = new Set(placed.map(({ seenAt }) => monthOf(dayOf(seenAt))))
  if (months.size === 0) return
  await retryDeadlocks(
    () => sql`
      select open_month(month)
      from unnest(${[...months].sort()}::date[]) month
      where to_regclass('chart_results' || to_char(month, '_YYYY_MM')) is null
      order by month`,
  )
}

const TRIES = 4

/**
 * Retries after a deadlock. All transactions lock in one order, except one that tracks several apps: it locks its lists
 * in another.
 */
export async function retryDeadlocks<T>(run: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await run()
    } catch (error) {
      if ((error as { code?: string }).code !== "40P01" || tried === TRIES) throw error
    }
  }
}

/**
 * Stores the observations in phases. Each phase processes the kinds in the order of the list of kinds, to avoid
 * deadlocks.
 */
async function store(
  tx: Tx,
  sound: readonly Observation[],
  { kinds, storeApps, followUps }: RecordingModel,
  { staged, isImport, now }: { staged: ReportSets; isImport: boolean; now: Date },
): Promise<number> {
  // a plan cached while a table was small would scan the whole table for each key, as long as the connection lives
  await tx`set local plan_cache_mode = force_custom_plan`
  await assertFresh(tx, new Map([...staged].filter(([one]) => sound.includes(one as Observation))))
  await holdIdentities(tx)
  const { readings, wholeOf } = withParts(sound, kinds)
  const ids = await identify(
    tx,
    readings.flatMap((reading) =>
      isOfStore(reading) ? [{ platform: reading.platform, ...namesIn(reading, kinds) }] : [],
    ),
  )
  await lock(tx, ids)
  const stored: [AnyKind, StoreResult<AnyObservation>][] = []
  for (const kind of kinds) {
    const ofKind = readings.filter((reading) => reading.kind === kind.name)
    if (ofKind.length > 0) stored.push([kind, await kind.store(tx, ofKind, ids, staged)])
  }
  const results = stored.map(([, result]) => result)
  const seen: SeenApps = {
    market: marketsIn(sound, kinds),
    shown: results.flatMap(({ shown = [] }) => shown),
    named: results.flatMap(({ shown = [], named = shown }) => named),
    outdated: results.flatMap(({ outdated = [] }) => outdated),
  }
  const apps = await storeApps(tx, seen, ids)
  const { market, rated, counted, renamed } = apps
  for (const [kind, { placed }] of stored) {
    await kind.derive?.(tx, { placed, rated: rated.filter((item) => item.kind === kind.name) }, ids, staged)
  }
  const dated = results.flatMap((result) => result.dated ?? [])
  const changed = [...counted, ...dated, ...seen.outdated]
  const recorded = {
    readings,
    rated,
    counted: countedApps(seen, apps, ids),
    changed,
    renamed,
    ids,
    kinds,
    isImport,
    now,
  }
  for (const { importsOnly, follow } of followUps) if (isImport || !importsOnly) await follow(tx, recorded)
  const taken = [...results.flatMap(({ placed }) => placed), ...market, ...rated]
  return new Set(taken.map((item) => wholeOf.get(item) ?? item)).size
}

/**
 * Adds the readings that other readings contain. In the result they count as part of the observation that contains
 * them.
 */
function withParts(sound: readonly Observation[], kinds: readonly AnyKind[]) {
  const wholeOf = new Map<AnyObservation, AnyObservation>()
  for (const observation of sound) {
    const parts = kindNamed(observation.kind, kinds)?.parts?.(observation) ?? []
    for (const part of parts) wholeOf.set(part, observation)
  }
  return { readings: [...sound, ...wholeOf.keys()] as AnyObservation[], wholeOf }
}

function namesIn(one: AnyObservation, kinds: readonly AnyKind[]) {
  return kindNamed(one.kind, kinds)?.names?.(one)
}

async function lock(tx: Tx, { lists, charts, series }: SurrogateIds): Promise<void> {
  if (lists.length > 0) await lockLists(tx, lists)
  if (charts.length > 0) await lockCharts(tx, charts)
  await lockSeries(tx, series)
}

/** Returns the apps with new ratings or installs. */
function countedApps({ shown, market }: SeenApps, stored: StoredApps, { appOf }: SurrogateIds): number[] {
  const newRatings = new Set<AnyObservation>(stored.rated)
  const newMarket = new Set(stored.market)
  const counted = shown
    .filter(({ from }) => newRatings.has(from))
    .flatMap(({ apps, appIds }) => appIds.filter((_, place) => apps[place]!.ratings !== undefined))
  const installed = market
    .filter(({ from }) => newMarket.has(from))
    .flatMap(({ from, apps }) => apps.map(({ id }) => appOf(from.platform, id)))
  return [...counted, ...installed]
}

function marketsIn(sound: readonly Observation[], kinds: readonly AnyKind[]): MarketReading[] {
  return sound.flatMap((from) => {
    return isOfStore(from) ? [{ from, apps: kindNamed(from.kind, kinds)?.market?.(from) ?? [] }] : []
  })
}
