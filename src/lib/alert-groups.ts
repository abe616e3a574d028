import { inStore } from "./storefront-names.ts"

/** The fields of a feed's alert that grouping and display need. */
export interface GroupableAlert {
  type: string
  /** Null for an app that is no longer tracked. */
  appId: string | null
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
}

/** Alerts with one cause: all alerts of a keyword and app on a day, or of a rival on a day. */
export interface AlertGroup<Row extends GroupableAlert> {
  /** The most informative alert of the event. */
  lead: Row
  /** All alerts of the group, in the order of the feed. */
  rows: Row[]
  isRead: boolean
  /** "▼ 4→7", "▲ –→8". Null without a change of rank. */
  move: string | null
  /** The event in one line, without its day, its app and `move`. */
  line: string
}

/**
 * Groups the alerts of a feed by event: a drop in rank that lets eight rivals pass is one event, and so is an update of
 * a rival that several apps share.
 */
export function groupAlerts<Row extends GroupableAlert>(rows: readonly Row[]): AlertGroup<Row>[] {
  const groups = Map.groupBy(rows, (row, at) => keyOf(row) ?? String(at))
  return [...groups.values()].map(groupOf)
}

const MOVES = ["rank_drop", "rank_rise", "dropped_out", "entered"]
const PASSINGS = ["rival_passed", "rival_beaten"]

/** Null for an alert that is not grouped. */
function keyOf({ type, appId, platform, country, day, term, rivalId }: GroupableAlert): string | null {
  if (MOVES.includes(type) || PASSINGS.includes(type)) return JSON.stringify([appId, platform, country, day, term])
  return type === "rival_event" ? JSON.stringify([platform, day, rivalId]) : null
}

function groupOf<Row extends GroupableAlert>(rows: Row[]): AlertGroup<Row> {
  const lead = rows.find(({ type }) => MOVES.includes(type)) ?? (rows[0] as Row)
  const isRead = rows.every(({ read }) => read)
  const isMove = MOVES.includes(lead.type)
  if (rows.length === 1 && !isMove) return { lead, rows, isRead, move: null, line: lead.sentence }
  if (lead.type === "rival_event") return { lead, rows, isRead, move: null, line: rivalLine(rows) }
  return { lead, rows, isRead, move: moveOf(lead), line: keywordLine(lead, rows) }
}

function moveOf({ before, after }: GroupableAlert): string | null {
  const place = (rank: number | string | null) => (rank === null ? "–" : String(rank))
  if (before === after) return null
  const isWorse = after === null || (before !== null && Number(after) > Number(before))
  return `${isWorse ? "▼" : "▲"} ${place(before)}→${place(after)}`
}

function keywordLine(lead: GroupableAlert, rows: readonly GroupableAlert[]): string {
  const passed = namesOf(rows.filter(({ type }) => type === "rival_passed"))
  const beaten = namesOf(rows.filter(({ type }) => type === "rival_beaten"))
  return [`"${lead.term}" ${whereOf(lead)}`, passed && `passed by ${passed}`, beaten && `you passed ${beaten}`]
    .filter((part) => part !== "")
    .join(", ")
}

/** Describes everything that a rival changed, in every storefront. */
function rivalLine(rows: readonly GroupableAlert[]): string {
  const changes = [...new Set(rows.map(changeOf))]
  const places = [...new Set(rows.map(whereOf))]
  const where = places.length === 1 ? places[0] : `in ${places.length} storefronts`
  return `${namesOf(rows)} changed ${changes.join(", ")} ${where}`
}

function changeOf({ change, before, after }: GroupableAlert): string {
  const name = String(change).replaceAll("_", " ")
  const isShown = change === "version" || change === "price" || change === "rating_jump"
  return isShown ? `${name} ${before ?? "–"}→${after ?? "–"}` : name
}

const MAX_NAMED = 3

function namesOf(rows: readonly GroupableAlert[]): string {
  const names = [...new Set(rows.map(({ rivalName, rivalId }) => rivalName ?? rivalId ?? ""))]
  if (names.length > MAX_NAMED) return `${names.slice(0, MAX_NAMED).join(", ")} and ${names.length - MAX_NAMED} more`
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`
}

function whereOf({ platform, country }: GroupableAlert): string {
  return inStore({ platform, storefront: country })
}
