import { later } from "./days.ts"
import { inStore } from "./storefront-names.ts"

/** The fields of a feed's alert that grouping and display need. */
export interface GroupableAlert {
  type: string
  /** Null for an app that is no longer tracked. */
  appId: string | null
  appName: string | null
  platform: "ios" | "android" | null
  country: string | null
  day: string
  read: boolean
  sentence: string
  term: string | null
  rivalId: string | null
  rivalName: string | null
  change: string | null
  before: number | string | null
  after: number | string | null
  source: string | null
}

/** Alerts with one cause: all alerts of a keyword and app, or of a rival. */
export interface AlertGroup<Row extends GroupableAlert> {
  /** The newest among the most informative alerts of the group. */
  lead: Row
  /** All alerts of the group, in the order of the feed. */
  rows: Row[]
  /** Names of the group's apps. Empty if the alert concerns the whole workspace. */
  apps: string[]
  /** The UTC day of its newest alert. */
  day: string
  isRead: boolean
  /** The movement of the rank. Null without a change of rank. */
  direction: "up" | "down" | null
  /** The event in one line, without its app. Names the days if there are several. */
  line: string
}

export interface Grouping {
  /** If true, the days of an event are joined too: a fall over three days is then one event. */
  acrossDays?: boolean
}

/**
 * Groups the alerts of a feed by event, the newest day first. A drop in rank that lets eight rivals pass is one event,
 * and so is an update of a rival that several apps share. The order differs from that of the feed, which is by time of
 * the reading: a reading may show a change of an earlier day.
 */
export function groupAlerts<Row extends GroupableAlert>(
  rows: readonly Row[],
  { acrossDays = false }: Grouping = {},
): AlertGroup<Row>[] {
  const groups = Map.groupBy(rows, (row, at) => eventOf(row, acrossDays) ?? String(at))
  const events = [...groups.values()].map(groupOf)
  return events.toSorted((a, b) => (a.day < b.day ? 1 : a.day > b.day ? -1 : 0))
}

const MOVES = ["rank_drop", "rank_rise", "dropped_out", "entered"]
const PASSINGS = ["rival_passed", "rival_beaten"]

/**
 * Returns the key of the alert's event. Null for an alert that is not grouped. The key contains the source, because
 * ranks of different sources are not compared.
 */
function eventOf(row: GroupableAlert, acrossDays: boolean): string | null {
  const { type, appId, platform, country, term, rivalId, source } = row
  const day = acrossDays ? null : row.day
  if (isOfKeyword(row)) return JSON.stringify([appId, platform, country, term, source, day])
  return type === "rival_event" ? JSON.stringify([platform, rivalId, day]) : null
}

const isOfKeyword = ({ type }: GroupableAlert) => MOVES.includes(type) || PASSINGS.includes(type)

function groupOf<Row extends GroupableAlert>(rows: Row[]): AlertGroup<Row> {
  const lead = rows.find(({ type }) => MOVES.includes(type)) ?? (rows[0] as Row)
  const isRead = rows.every(({ read }) => read)
  const direction = isOfKeyword(lead) ? directionOf(moveOf(rows)) : null
  const line = rows.length === 1 ? lead.sentence : isOfKeyword(lead) ? keywordLine(lead, rows) : rivalLine(rows)
  const apps = [...new Map(rows.map(({ appId, appName }) => [appId, appName])).values()].filter((name) => name !== null)
  const day = rows.reduce((newest, row) => later(newest, row.day), lead.day)
  return { lead, rows, apps, day, isRead, direction, line }
}

type Rank = number | null

interface Move {
  before: Rank
  after: Rank
}

/** Returns the app's rank before the earliest alert and after the latest. */
function moveOf(rows: readonly GroupableAlert[]): Move {
  const days = rows.map(({ day }) => day).sort()
  const before = rows.findLast(({ day }) => day === days[0])?.before
  const after = rows.find(({ day }) => day === days.at(-1))?.after
  return { before: typeof before === "number" ? before : null, after: typeof after === "number" ? after : null }
}

function directionOf({ before, after }: Move): "up" | "down" | null {
  if (before === after) return null
  return after === null || (before !== null && after > before) ? "down" : "up"
}

/** Returns '"moon phase" fell from 8 to 17 in the US App Store; 8 apps passed you: Softly, Moodleaf and 6 more'. */
function keywordLine(lead: GroupableAlert, rows: readonly GroupableAlert[]): string {
  const isOneDay = daysIn(rows) === ""
  const head = isOneDay && MOVES.includes(lead.type) ? lead.sentence : movedLine(lead, rows)
  // a rival may pass and be passed again: its newest alert counts
  const passings = rows.filter(({ type }) => PASSINGS.includes(type))
  const newest = [...new Map(passings.toReversed().map((row) => [row.rivalId, row])).values()].toReversed()
  const passed = namesOf(newest.filter(({ type }) => type === "rival_passed"))
  const beaten = namesOf(newest.filter(({ type }) => type === "rival_beaten"))
  return [
    head,
    passed.length > MAX_NAMED ? `${passed.length} apps passed you: ${listed(passed)}` : "",
    passed.length > 0 && passed.length <= MAX_NAMED ? `${listed(passed)} passed you` : "",
    beaten.length > MAX_NAMED ? `you passed ${beaten.length} apps: ${listed(beaten)}` : "",
    beaten.length > 0 && beaten.length <= MAX_NAMED ? `you passed ${listed(beaten)}` : "",
  ]
    .filter((part) => part !== "")
    .join("; ")
}

function movedLine(lead: GroupableAlert, rows: readonly GroupableAlert[]): string {
  const { before, after } = moveOf(rows)
  const where = `${whereOf(lead)}${daysIn(rows)}`
  const term = `"${lead.term}"`
  if (before === after)
    return after === null ? `${term} entered and dropped out ${where}` : `${term} is at ${after} ${where}, as before`
  if (before === null) return `${term} entered at ${after} ${where}`
  if (after === null) return `${term} dropped out ${where} (before: ${before})`
  return `${term} ${after > before ? "fell" : "rose"} from ${before} to ${after} ${where}`
}

/** Describes everything that a rival changed, in all storefronts together. */
function rivalLine(rows: readonly GroupableAlert[]): string {
  // oldest first, so that versions appear in order
  const changes = [...new Set(rows.toReversed().map(changeOf))]
  const places = [...new Set(rows.map(whereOf))]
  const where = places.length === 1 ? places[0] : `in ${places.length} storefronts`
  return `${listed(namesOf(rows))} changed ${changes.join(", ")} ${where}${daysIn(rows)}`
}

function changeOf({ change, before, after }: GroupableAlert): string {
  const name = String(change).replaceAll("_", " ")
  const isShown = change === "version" || change === "price" || change === "rating_jump"
  return isShown ? `${name} ${before ?? "–"}→${after ?? "–"}` : name
}

const MAX_NAMED = 3

function namesOf(rows: readonly GroupableAlert[]): string[] {
  return [...new Map(rows.map(({ rivalId, rivalName }) => [rivalId, rivalName ?? rivalId ?? ""])).values()]
}

function listed(names: readonly string[]): string {
  if (names.length > MAX_NAMED) return `${names.slice(0, MAX_NAMED).join(", ")} and ${names.length - MAX_NAMED} more`
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`
}

function whereOf({ platform, country }: GroupableAlert): string {
  return inStore({ platform, storefront: country })
}

/** Returns " from 2026-11-24 to 2026-11-26". Empty if all alerts are of one day. */
function daysIn(rows: readonly GroupableAlert[]): string {
  const days = rows.map(({ day }) => day).sort()
  return days[0] === days.at(-1) ? "" : ` from ${days[0]} to ${days.at(-1)}`
}
