import type { AppBits } from "./app-bits.ts"

/** Which places on lists are asked for, and which part of what is found. */
export interface PlaceQuery {
  rankMin: number
  rankMax: number
  /** These apps alone; null = all. */
  only: AppBits | null
  /** Others, of which it is not known whether they are wanted. */
  unsure: AppBits | null
  /** Only places on lists that say the app is seen since that day or later. */
  since: number | null
  /** Of the apps in their order: the best place first, then the lowest number of the store. */
  from: number
  to: number
}

/** An app at its best place; of equally good ones on the list that comes first, those of all apps before others. */
export interface BestPlace<List> {
  app: number
  storeId: number
  rank: number
  list: List
  firstDay: number
}

export interface FoundPlaces<List> extends AppCounts {
  page: BestPlace<List>[]
}

/** How many apps there are of those asked for. */
export interface AppCounts {
  count: number
  /** Apps that would be among them if it were known since when they are seen. */
  unknown: number
  /** Apps that would be among them if those were wanted of which that is not known. */
  unsure: number
}

/** The first day that counts; where a place does not say it, it is none that is seen since any day. */
export function leastDay(since: number | null): number {
  return since === null ? 0 : Math.max(1, since)
}

/** No first day is later. */
export const LAST_DAY = 65_535
