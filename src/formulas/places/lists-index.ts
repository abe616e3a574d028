import { type AppBits, countBits, createBitRoom, emptyBits } from "./app-bits.ts"

/** A list that is laid over others. */
export interface RankedApps {
  /** In the order shown. */
  apps: Int32Array
  /** Of those ids. */
  highest: number
  /** The store's own numbers of them. */
  storeIds: Float64Array
  /** Since when each is seen, as days; 0 = not known. */
  firstDays: Uint16Array
}

/** Which apps of lists are asked for. */
export interface AppQuery {
  /** These alone; null = all. */
  only: AppBits | null
  /** Others, of which it is not known whether they are wanted. */
  unsure: AppBits | null
  /** Only places on lists that say the app is seen since that day or later. */
  since: number | null
}

export interface AppCounts {
  count: number
  /** Apps that would be among them if it were known since when they are seen. */
  unknown: number
  /** Apps that would be among them if those were wanted of which that is not known. */
  unsure: number
}

/** The apps of some lists, by which those of several such are counted 32 at once. */
export interface ListsIndex {
  apps: AppBits
  /** Those of which some place says no first day. */
  undated: AppBits
  /** Those of which some place does, and the last such day of each: the last days first. */
  dated: Int32Array
  days: Uint16Array
}

/** At most 22 bytes a place; null where ids have so many gaps that to count places one by one takes no longer. */
export function indexLists(lists: readonly RankedApps[]): ListsIndex | null {
  const places = lists.reduce((sum, { apps }) => sum + apps.length, 0)
  const highest = lists.reduce((most, { highest }) => Math.max(most, highest), 0)
  const [seen, undated] = [emptyBits(highest), emptyBits(highest)]
  if (seen.length > 2 * places + 1) return null
  const last = new Uint16Array(highest + 1)
  for (const { apps, firstDays } of lists) {
    for (let at = 0; at < apps.length; at++) {
      const [app, day] = [apps[at]!, firstDays[at]!]
      seen[app >> 5]! |= 1 << app
      if (day === 0) undated[app >> 5]! |= 1 << app
      else if (day > last[app]!) last[app] = day
    }
  }
  const keys = Float64Array.from(datedKeys(last)).sort().reverse()
  const [dated, days] = [new Int32Array(keys.length), new Uint16Array(keys.length)]
  for (let i = 0; i < keys.length; i++) {
    dated[i] = keys[i]! % AN_APP
    days[i] = keys[i]! / AN_APP
  }
  return { apps: seen, undated, dated, days }
}

const AN_APP = 2 ** 32

function datedKeys(last: Uint16Array): number[] {
  const keys: number[] = []
  for (let app = 0; app < last.length; app++) if (last[app] !== 0) keys.push(last[app]! * AN_APP + app)
  return keys
}

const [roomOfSome, roomOfUndated] = [createBitRoom(), createBitRoom()]

/** Of the lists of all these, whole; `highest` of their ids. */
export function countIndexed(
  indexes: readonly ListsIndex[],
  highest: number,
  { only, unsure, since }: AppQuery,
): AppCounts {
  const some = roomOfSome(highest, "none")
  for (const index of indexes) {
    if (since === null) addAll(some, index.apps)
    else addSince(some, index, leastDay(since))
  }
  const counts = { count: countBits(some, only), unsure: unsure ? countBits(some, unsure) : 0 }
  if (since === null) return { ...counts, unknown: 0 }
  const undated = roomOfUndated(highest, "none")
  for (const index of indexes) addAll(undated, index.undated)
  for (let at = 0; at < undated.length; at++) undated[at]! &= ~some[at]!
  return { ...counts, unknown: countBits(undated, only) }
}

/** The first day that counts; where a place does not say it, it is none that is seen since any day. */
export function leastDay(since: number | null): number {
  return since === null ? 0 : Math.max(1, since)
}

function addAll(bits: AppBits, more: AppBits): void {
  for (let at = 0; at < more.length; at++) bits[at]! |= more[at]!
}

function addSince(bits: AppBits, { dated, days }: ListsIndex, least: number): void {
  for (let i = 0; i < dated.length && days[i]! >= least; i++) bits[dated[i]! >> 5]! |= 1 << dated[i]!
}
