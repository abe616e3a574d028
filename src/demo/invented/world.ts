import { hash } from "node:crypto"
import { INVENTED_IDS } from "../../lib/store-ids.ts"
import { INVENTED_TERMS } from "../../lib/term.ts"

/**
 * An app that is in no store, since no data may be made up about real apps. It shows everything that a measured month
 * contains.
 */
export const INVENTED_APP = { id: `${INVENTED_IDS}00001`, name: "Lumen Journal (invented)" } as const
export const INVENTED_STOREFRONT = "us"

const RIVAL_NAMES = [
  "Moodleaf",
  "Dayspring",
  "Quiet Pages",
  "Nightnote",
  "Gratitude Garden",
  "Inkwell",
  "Slow Morning",
  "Five Lines",
  "Harbour",
  "Daily Ember",
  "Softly",
  "Penpal to Self",
  "Lantern",
  "Tidepool",
  "Mindful Minute",
  "Paperboat",
  "Still",
  "Kindly",
  "Evergreen Diary",
  "Nook",
  "Sunlit",
  "Breathe Out",
]

export const INVENTED_RIVALS = RIVAL_NAMES.map((name, place) => ({
  id: `${INVENTED_IDS}${String(place + 101).padStart(5, "0")}`,
  name: `${name} (invented)`,
}))

/** The app's rank by day number. Null if absent, undefined if not measured. */
type DayRank = (number: number) => number | null | undefined

interface InventedKeyword {
  term: string
  popularity: number | null
  rankOn: DayRank
}

const keyword = (words: string, popularity: number | null, rankOn: DayRank): InventedKeyword => {
  return { term: INVENTED_TERMS + words, popularity, rankOn }
}

/** One keyword for each pattern of ranks: rising, stable, alternating, absent at times, with gaps, never measured. */
export const INVENTED_KEYWORDS: readonly InventedKeyword[] = [
  keyword("gratitude journal", 46, (day) => 14 - Math.floor(((day % 28) * 11) / 27)),
  keyword("mood diary", 38, (day) => (day % 12 < 3 ? 6 : 5)),
  keyword("daily journal", 61, (day) => (day % 14 < 7 ? 4 : 7)),
  keyword("dream log", 22, (day) => (day % 9 < 7 ? 16 + (Math.floor(day / 9) % 3) : null)),
  keyword("sleep notes", null, (day) => (day % 5 === 0 ? undefined : 7 + (Math.floor(day / 10) % 2))),
  keyword("habit list", null, () => undefined),
]

/** Returns the days since 1970. All data of a day depends on this number only. */
export function numberOf(day: string): number {
  return Math.round(Date.parse(day) / 86_400_000)
}

/** Returns a pseudorandom number from 0 to 1 that depends on the text only. */
export function chanceOf(text: string): number {
  return hash("sha256", text, "buffer").readUInt32BE(0) / 2 ** 32
}
