import { setTimeout as sleep } from "node:timers/promises"
import type { Sql, Tx } from "../database/types.ts"
import { makeDifficultyDue } from "../keywords/due/search.ts"
import type { Observation } from "../kinds.ts"
import type { Days } from "../lib/days.ts"
import { addDays, dayOf } from "../lib/days.ts"
import type { Subject } from "../measuring/due-kind.ts"
import { type CONCERNS, putForwardImported } from "../measuring/put-forward.ts"
import { deriveFindings } from "./findings.ts"
import { readConcerned } from "./import-concerns.ts"
import {
  deriveDays,
  deriveSpan,
  OF_ANSWERS,
  OF_CHARTS,
  OF_PAGES,
  OF_REVIEWS,
  OF_SEARCHES,
  type PlaceImport,
} from "./import-derive.ts"
import { emptySide, noteReading, openNotes, reviewsKey, type SideNotes } from "./import-notes.ts"
import { deriveChangedScope, type ImportedDays, noteImportedDays, readImportedDays } from "./import-scope.ts"
import { daysBetween, runsOf } from "./import-spans.ts"

interface ImportFindings {
  /** Notes the readings in the transaction that stores them, and makes the findings of their subjects due. */
  note(tx: Tx, readings: readonly Observation[]): Promise<void>
  /** Derives the alerts of the imported days and of the days compared with them. Needs no worker. */
  tell(sql: Sql): Promise<void>
}

interface ImportFindingsOptions {
  now?: () => Date
  /** Days for which alerts are kept. 0 for unlimited. */
  keptDays?: number
  /** Awaited between transactions, so that other work can use the only backend of the embedded database. */
  pause?: () => Promise<void>
}

/** Delay after which a worker takes over the recent days of an interrupted import. */
const LEFT_AFTER_MS = 60_000

export function openImportFindings(options: ImportFindingsOptions = {}): ImportFindings {
  const { now = () => new Date(), keptDays = 0, pause = () => sleep(PAUSE_MS) } = options
  const notes = openNotes()
  return {
    async note(tx, readings) {
      for (const reading of readings) noteReading(notes, reading)
      for (const { kind, subjects } of groupsOf(readings)) {
        const [{ platform }] = subjects as [Subject]
        if (kind === "search" && platform === "ios") await makeDifficultyDue(tx, subjects)
        await putForwardImported(tx, kind, subjects, LEFT_AFTER_MS)
      }
    },
    async tell(sql) {
      const at = now()
      const keptFrom = keptDays > 0 ? addDays(dayOf(at), -keptDays) : "1970-01-01"
      for (const side of notes.sides.values()) await noteImportedDays(sql, side, keptFrom)
      for (const place of await readConcerned(sql, notes)) {
        const reviewsFrom = notes.reviews.get(reviewsKey(place.platform, place.subject))
        const side = notes.sides.get(`${place.platform} ${place.storefront}`)
        const isCategorised = notes.categorised.has(place.platform)
        await derivePlace({ sql, place, side, reviewsFrom, isCategorised, keptFrom, now: at, pause })
      }
    },
  }
}

const PAUSE_MS = 5

interface Group {
  kind: keyof typeof CONCERNS
  /** All have the same platform and storefront. */
  subjects: Subject[]
}

function groupsOf(readings: readonly Observation[]): Iterable<Group> {
  const groups = new Map<string, Group>()
  for (const reading of readings) {
    for (const { kind, platform, storefront, names } of placesOf(reading)) {
      if (names.length === 0) continue
      const key = `${kind} ${platform} ${storefront}`
      const group = groups.get(key) ?? { kind, subjects: [] }
      const of = kind === "assistant_answer" ? "search" : kind
      group.subjects.push(...names.map((subject) => ({ kind: of, platform, storefront, subject })))
      groups.set(key, group)
    }
  }
  return groups.values()
}

type ImportedPlace = Pick<Subject, "platform" | "storefront"> & Pick<Group, "kind"> & { names: string[] }

/** Returns the subjects of a reading by kind. An assistant's answer concerns both stores. */
function placesOf(reading: Observation): ImportedPlace[] {
  if (reading.kind === "assistant_answer") {
    const about = { kind: reading.kind, storefront: reading.storefront, names: [reading.term] }
    return [
      { ...about, platform: "android" },
      { ...about, platform: "ios" },
    ]
  }
  if (!("storefront" in reading)) return []
  const { platform, storefront } = reading
  switch (reading.kind) {
    case "search":
      return [{ platform, storefront, kind: "search", names: [reading.term] }]
    case "apps":
      return [{ platform, storefront, kind: "app", names: reading.apps.map(({ id }) => id) }]
    case "listing":
      return [{ platform, storefront, kind: "listing", names: [reading.id] }]
    case "chart":
      return [{ platform, storefront, kind: "chart", names: [`${reading.device} ${reading.chart} ${reading.genre}`] }]
    case "reviews":
      return [{ platform, storefront, kind: "reviews", names: [reading.storeId] }]
    default:
      return []
  }
}

/** Derives the recent days first, since they determine the followed rivals. */
async function derivePlace(imported: PlaceImport): Promise<void> {
  const { sql, place, side, now, keptFrom, pause } = imported
  await pause()
  await sql.begin((tx) => deriveFindings(tx, [place], now, { isImport: true }))
  const row = await readImportedDays(sql, place, keptFrom)
  if (side || row?.derivedWith === null) await deriveTouched(imported, side ?? emptySide(place), row)
  await deriveReviews(imported)
  if (row) await deriveChangedScope(imported, row)
}

/** Derives the days of the import and those compared with them. The first time it derives all imported days. */
async function deriveTouched(imported: PlaceImport, side: SideNotes, row: ImportedDays | undefined): Promise<void> {
  const { place, keptFrom, now } = imported
  const retained = (days: Iterable<string>) => [...days].filter((day) => day >= keptFrom)
  const first = row?.derivedWith === null ? daysBetween(row.from, row.to) : []
  const terms = first.length > 0 ? place.terms : place.terms.filter((term) => side.searches.has(term))
  const searched = retained(new Set([...first, ...terms.flatMap((term) => [...(side.searches.get(term) ?? [])])]))
  if (terms.length > 0 && searched.length > 0) {
    const following = await readFollowing(imported, runsOf(searched), terms)
    await deriveDays(imported, [...searched, ...following], { finders: OF_SEARCHES, terms: new Set(terms) })
  }
  const charted = place.genre === null ? [] : retained([...first, ...(side.charts.get(place.genre) ?? [])])
  if (charted.length > 0) {
    const following = await readFollowing(imported, runsOf(charted), null)
    await deriveDays(imported, [...charted, ...following], { finders: OF_CHARTS })
  }
  const answeredTerms = place.terms.filter((term) => side.answers.has(term))
  const [answered] = retained(answeredTerms.flatMap((term) => [...(side.answers.get(term) as Set<string>)])).sort()
  if (answered !== undefined)
    await deriveSpan(imported, { from: answered, to: dayOf(now), finders: OF_ANSWERS, terms: new Set(answeredTerms) })
  // a page affects the changes before and after it, from either source; all days are derived, as there are few pages
  const [from] = retained([...side.days, ...(row ? [row.from] : [])]).sort()
  if (from !== undefined) await deriveSpan(imported, { from, to: dayOf(now), finders: OF_PAGES })
}

/**
 * Derives the review alerts again: a late review changes the mean of the days after it, and may close a gap between
 * readings.
 */
async function deriveReviews(imported: PlaceImport): Promise<void> {
  const { reviewsFrom, keptFrom, now } = imported
  if (reviewsFrom === undefined) return
  const [, from = keptFrom] = [reviewsFrom, keptFrom].sort()
  await deriveSpan(imported, { from, to: dayOf(now), finders: OF_REVIEWS })
}

/**
 * Returns, for each run, the first measured day after it of each keyword of `terms`, or of the charts if `terms` is
 * null. Its alerts compare it with the last day of the run.
 */
async function readFollowing(
  { sql, place, pause }: PlaceImport,
  runs: readonly Days[],
  terms: readonly string[] | null,
): Promise<string[]> {
  const days = new Set<string>()
  const { platform, storefront, genre } = place
  for (const { to } of runs) {
    await pause()
    const rows = await (terms === null
      ? sql<{ day: string | null }[]>`
          select distinct (
              select day
              from chart_results
              where chart_id = c.id and day > ${to}::date and complete
              order by day
              limit 1
            ) as day
          from chart c
          where c.platform = ${platform} and c.storefront = ${storefront} and c.genre = ${genre}`
      : sql<{ day: string | null }[]>`
          select distinct (
              select day
              from search_results
              where list_id = l.id and day > ${to}::date and complete
              order by day
              limit 1
            ) as day
          from unnest(${terms as string[]}::text[]) t (term)
          join list l on (l.platform, l.storefront, l.term) = (${platform}, ${storefront}, t.term)
          where l.last_day > ${to}::date`)
    for (const { day } of rows) if (day !== null) days.add(day)
  }
  return [...days]
}
