import type { Platform } from "../core/observation/provenance.ts"
import type { Observation } from "../kinds.ts"
import { dayOf } from "../lib/days.ts"

/** The imported days of one storefront. */
export interface SideNotes {
  platform: Platform
  storefront: string
  /** UTC days of all its readings. */
  days: Set<string>
  /** Keywords with imported search results, and their days. */
  searches: Map<string, Set<string>>
  /** Genres with imported charts, and their days. */
  charts: Map<string, Set<string>>
  /** Keywords with imported assistant answers, and their days. */
  answers: Map<string, Set<string>>
  /** Store ids with imported data that may show a change: a page, a version or an average rating. */
  apps: Set<string>
}

/** The few fields of each imported reading that determine which alerts to derive again. */
export interface ImportNotes {
  sides: Map<string, SideNotes>
  /**
   * The earliest day on which a review was written, by store and store id. On Google Play reviews have a language and
   * no storefront.
   */
  reviews: Map<string, string>
  /** Stores with imported app categories, which affect off_topic in every storefront. */
  categorised: Set<Platform>
}

export function openNotes(): ImportNotes {
  return { sides: new Map(), reviews: new Map(), categorised: new Set() }
}

export function noteReading({ sides, reviews, categorised }: ImportNotes, reading: Observation): void {
  if (reading.kind === "assistant_answer") {
    for (const platform of ["ios", "android"] as const) {
      const side = sideOf(sides, { platform, storefront: reading.storefront })
      side.days.add(dayOf(reading.seenAt))
      addTo(side.answers, reading.term, dayOf(reading.seenAt))
    }
    return
  }
  if (!("storefront" in reading) || !("platform" in reading)) return
  const day = dayOf(reading.seenAt)
  const side = sideOf(sides, reading as { platform: Platform; storefront: string })
  switch (reading.kind) {
    case "search":
      addTo(side.searches, reading.term, day)
      for (const { id, rating } of reading.results) if (rating !== undefined) side.apps.add(id)
      break
    case "chart":
      addTo(side.charts, reading.genre, day)
      for (const { id, rating } of reading.apps) if (rating !== undefined) side.apps.add(id)
      if (reading.apps.some(({ genre }) => genre !== undefined)) categorised.add(reading.platform)
      break
    case "apps":
      for (const { id } of reading.apps) side.apps.add(id)
      if (reading.apps.some(({ genre, genres }) => genre !== undefined || genres !== undefined))
        categorised.add(reading.platform)
      break
    case "developer":
      for (const { id } of reading.apps) side.apps.add(id)
      if (reading.apps.some(({ genre, genres }) => genre !== undefined || genres !== undefined))
        categorised.add(reading.platform)
      break
    case "listing":
      side.apps.add(reading.id)
      break
    case "reviews":
      for (const { at } of reading.reviews) {
        const key = reviewsKey(reading.platform, reading.storeId)
        const written = dayOf(at)
        const earliest = reviews.get(key)
        if (earliest === undefined || written < earliest) reviews.set(key, written)
      }
      break
    case "genres":
      categorised.add(reading.platform)
      return
    default:
      return
  }
  side.days.add(day)
}

export function reviewsKey(platform: Platform, storeId: string): string {
  return `${platform} ${storeId}`
}

function sideOf(sides: ImportNotes["sides"], place: Pick<SideNotes, "platform" | "storefront">): SideNotes {
  const key = `${place.platform} ${place.storefront}`
  const side = sides.get(key) ?? emptySide(place)
  sides.set(key, side)
  return side
}

export function emptySide({ platform, storefront }: Pick<SideNotes, "platform" | "storefront">): SideNotes {
  return {
    platform,
    storefront,
    days: new Set(),
    searches: new Map(),
    charts: new Map(),
    answers: new Map(),
    apps: new Set(),
  }
}

function addTo(map: Map<string, Set<string>>, key: string, day: string): void {
  const days = map.get(key)
  if (days) days.add(day)
  else map.set(key, new Set([day]))
}
