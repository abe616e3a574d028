import { setTimeout as sleep } from "node:timers/promises"
import type { Sql, Tx } from "../database/types.ts"
import type { Subject } from "../measuring/kind.ts"
import { makeDifficultyDue } from "../measuring/kinds/search.ts"
import { type CONCERNS, putForwardImported } from "../measuring/put-forward.ts"
import type { AssistantAnswerObservation } from "../observations/kinds/assistant-answer.ts"
import { DEMO, type Observation } from "../observations/types.ts"
import { addDays, dayOf } from "../vocabulary/days.ts"
import { deriveFindings, derivePastFindings } from "./findings.ts"

interface ImportFindings {
  /** Notes readings in the transaction that stores them, and puts the findings in them forward. */
  note(tx: Tx, readings: readonly Observation[]): Promise<void>
  /** Each alert is marked with its day; it needs no worker, and a second import tells nothing twice. */
  tell(sql: Sql): Promise<void>
}

interface ImportFindingsOptions {
  now?: () => Date
  /** Of days that are older nothing is told; 0 = of all. */
  keptDays?: number
  /** Awaited between two transactions, so that others get their turn on the embedded database's one backend. */
  pause?: () => Promise<void>
}

/** An import that breaks off leaves what it put forward to the next worker, for the days that are news. */
const LEFT_AFTER_MS = 60_000

export function openImportFindings(options: ImportFindingsOptions = {}): ImportFindings {
  const { now = () => new Date(), keptDays = 0, pause = () => sleep(PAUSE_MS) } = options
  const apps = new Map<string, AppDays>()
  return {
    async note(tx, readings) {
      for (const { kind, subjects, days } of groupsOf(readings)) {
        const [{ platform }] = subjects as [Subject]
        if (kind === "search" && platform === "ios") await makeDifficultyDue(tx, subjects)
        for (const app of await putForwardImported(tx, kind, subjects, LEFT_AFTER_MS)) {
          const key = `${app.platform} ${app.storefront} ${app.subject}`
          const held = apps.get(key) ?? { app, days: new Set() }
          for (const day of days) held.days.add(day)
          apps.set(key, held)
        }
      }
    },
    async tell(sql) {
      const since = keptDays > 0 ? addDays(dayOf(now()), -keptDays) : ""
      for (const { app, days } of apps.values()) {
        await pause()
        await sql.begin((tx) => deriveFindings(tx, [app], now()))
        const looked = new Set([...days].filter((day) => day >= since))
        for (const { to } of runsOf([...looked])) {
          await pause()
          for (const day of await readFollowing(sql, app, to)) looked.add(day)
        }
        for (const span of spansOf([...looked], await readDaysAtOnce(sql, app))) {
          await pause()
          await sql.begin((tx) => derivePastFindings(tx, app, span, now()))
        }
      }
    },
  }
}

const PAUSE_MS = 5

type App = Pick<Subject, "platform" | "storefront" | "subject">

interface AppDays {
  app: App
  days: Set<string>
}

interface Group {
  kind: keyof typeof CONCERNS
  /** They share platform and storefront. */
  subjects: Subject[]
  days: Set<string>
}

function groupsOf(readings: readonly Observation[]): Iterable<Group> {
  const groups = new Map<string, Group>()
  for (const reading of readings) {
    for (const { kind, platform, storefront, names, days } of notedOf(reading)) {
      if (names.length === 0) continue
      const key = `${kind} ${platform} ${storefront}`
      const group = groups.get(key) ?? { kind, subjects: [], days: new Set() }
      const of = kind === "assistant_answer" ? "search" : kind
      group.subjects.push(...names.map((subject) => ({ kind: of, platform, storefront, subject })))
      for (const day of days) group.days.add(day)
      groups.set(key, group)
    }
  }
  return groups.values()
}

type ImportedPlace = Pick<Subject, "platform" | "storefront"> &
  Pick<Group, "kind"> & { names: string[]; days: string[] }

/** What a reading is about, by the kind of measurement that it would have come from; none = nothing is found in it. */
function notedOf(reading: Observation): ImportedPlace[] {
  if (reading.kind === "assistant_answer") return answerPlaces(reading)
  const noted = placeOf(reading)
  return noted ? [noted] : []
}

/** Of no store, it concerns the apps of both. */
function answerPlaces({ storefront, term, seenAt }: AssistantAnswerObservation): ImportedPlace[] {
  const about = { kind: "assistant_answer" as const, storefront, names: [term], days: [dayOf(seenAt)] }
  return [
    { ...about, platform: "android" },
    { ...about, platform: "ios" },
  ]
}

function placeOf(reading: Exclude<Observation, AssistantAnswerObservation>): ImportedPlace | null {
  if (!("storefront" in reading) || reading.origin === DEMO) return null
  const { platform, storefront } = reading
  const about = { platform, storefront, days: [dayOf(reading.seenAt)] }
  switch (reading.kind) {
    case "search":
      return { ...about, kind: "search", names: [reading.term] }
    case "apps":
      return { ...about, kind: "app", names: reading.apps.map(({ id }) => id) }
    case "listing":
      return { ...about, kind: "listing", names: [reading.id] }
    case "chart":
      return { ...about, kind: "chart", names: [`${reading.device} ${reading.chart} ${reading.genre}`] }
    case "reviews":
      // a day's reviews are known with any later reading
      return { ...about, kind: "reviews", names: [reading.storeId], days: reading.reviews.map(({ at }) => dayOf(at)) }
    default:
      return null
  }
}

/** Keywords times days that one transaction looks at: 200 keywords take the embedded database 65 ms and more for three. */
const LOOKED_AT_ONCE = 400

async function readDaysAtOnce(sql: Sql, { platform, storefront, subject }: App): Promise<number> {
  const [row] = await sql<{ terms: number }[]>`
    select count(*)::int as terms
    from store_app s
    join tracked_app a on case ${platform} when 'ios' then a.ios_app else a.android_app end = s.id
    join tracked_term t on t.app_id = a.id and t.country = ${storefront}
    where s.platform = ${platform} and s.store_id = ${subject}
    group by a.id
    order by terms desc
    limit 1`
  return Math.max(1, Math.min(MOST_DAYS, Math.floor(LOOKED_AT_ONCE / Math.max(1, row?.terms ?? 0))))
}

const MOST_DAYS = 60

/** A measured day that comes so long after one that was imported is not compared anew. */
const FOLLOWING_DAYS = 92

/** The measured days that are compared with that one, or with one shortly before it: of each keyword and chart the next. */
async function readFollowing(sql: Sql, { platform, storefront, subject }: App, day: string): Promise<string[]> {
  const [from, to] = [addDays(day, 1), addDays(day, FOLLOWING_DAYS)]
  const rows = await sql<{ day: string }[]>`
    with own as materialized (
      select id, genre
      from store_app
      where platform = ${platform} and store_id = ${subject}
    )
    select r.day
    from own
    join tracked_app a on case ${platform} when 'ios' then a.ios_app else a.android_app end = own.id
    join tracked_term t on t.app_id = a.id and t.country = ${storefront}
    join list l on (l.platform, l.storefront, l.term) = (${platform}, ${storefront}, t.term)
    cross join lateral (
      select day
      from search_readings(l.id, ${from}, ${to})
      where complete
      order by day
      limit 1
    ) r
    union
    select r.day
    from own
    join chart c on c.platform = ${platform} and c.storefront = ${storefront} and c.genre = own.genre
    cross join lateral (
      select day
      from chart_results
      where chart_id = c.id and day between ${from} and ${to} and complete
      order by day
      limit 1
    ) r
    order by day
    limit ${FOLLOWING_DAYS}`
  return rows.map((row) => row.day)
}

interface Span {
  from: string
  to: string
}

/** Days that lie no further apart are looked at in one go. */
const APART_DAYS = 3

/** The days in spans of so many at most, the earliest first; a few days between two that are none of them are looked at too. */
export function spansOf(days: readonly string[], atOnce: number): Span[] {
  return runsOf(days).flatMap(({ from, to }) => partsOf(from, to, atOnce))
}

function runsOf(days: readonly string[]): Span[] {
  const runs: Span[] = []
  for (const day of days.toSorted()) {
    const last = runs.at(-1)
    if (last && day <= addDays(last.to, APART_DAYS)) last.to = day
    else runs.push({ from: day, to: day })
  }
  return runs
}

function partsOf(from: string, to: string, atOnce: number): Span[] {
  const parts: Span[] = []
  for (let at = from; at <= to; at = addDays(at, atOnce)) {
    const end = addDays(at, atOnce - 1)
    parts.push({ from: at, to: end < to ? end : to })
  }
  return parts
}
