import { hash } from "node:crypto"
import type { BestPlace } from "../../formulas/places/place-query.ts"
import type { ChosenLists } from "../../history/market/chosen-lists.ts"
import { EPOCH, type MarketList, type MarketStand } from "../../history/market/lists.ts"
import { addDays, dayNumber } from "../../vocabulary/days.ts"

// An answer of the finder, as JSON: most of it comes as JSON, most rows are of few lists, and lists stay for hours.

/** The iPhone's three and the iPad's free one. */
const LISTS_OF_GENRE = 4

export function daysFromEpoch(day: string): number {
  return dayNumber(day) - dayNumber(EPOCH)
}

/** Apps of the answer: of each what it is called, and what is known of its figures; left out = that was not asked. */
export function rowTexts(
  places: readonly BestPlace<MarketList>[],
  called: readonly string[],
  figures: readonly (object | null)[] | null,
  today: string,
): string {
  let text = ""
  for (let at = 0; at < places.length; at++) {
    const { storeId, rank, list, firstDay } = places[at]!
    // one text that grows is put together once
    text += `${at === 0 ? "" : ","}{"id":"${storeId}",${called[at]!},"rank":${rank},${listText(list, today)},"firstSeen":`
    text += firstDay === 0 ? "null" : dayText(firstDay)
    text += figures ? `,"estimates":${JSON.stringify(figures[at])}}` : "}"
  }
  return text
}

/** By days since EPOCH, of which there are 65,535. */
const days: string[] = []

function dayText(day: number): string {
  days[day] ??= `"${addDays(EPOCH, day)}"`
  return days[day]
}

/** As long as a list stands. */
const ofLists = new WeakMap<MarketList, { today: string; text: string }>()

/** What rows say of their list. */
function listText(list: MarketList, today: string): string {
  const held = ofLists.get(list)
  if (held?.today === today) return held.text
  const { country, device, kind, genre, day, measuredAt, source, origin } = list
  const ageDays = Math.max(0, daysFromEpoch(today) - daysFromEpoch(day))
  const text = JSON.stringify({ country, device, kind, genre, day, measuredAt, ageDays, source, origin }).slice(1, -1)
  ofLists.set(list, { today, text })
  return text
}

const ofStorefronts = new WeakMap<ChosenLists, { stand: MarketStand; text: string }>()

/** Which of a storefront's lists are behind the answer, and which of those that are read daily are not. */
export function coverageText(
  chosen: ChosenLists,
  stand: MarketStand,
  genres: readonly string[] | undefined,
  kind: string | undefined,
): string {
  const held = ofStorefronts.get(chosen)
  if (held?.stand === stand) return held.text
  const { country, overall, others, oldestDay, newestDay } = chosen
  const { followedSince, followedGenres } = stand
  const followed = new Set(followedGenres?.filter((genre) => !genres || genres.includes(genre)))
  const wanted = followed.size * (kind === undefined ? LISTS_OF_GENRE : 1)
  const got = [...overall, ...others].filter(
    ({ genre, device, kind }) => followed.has(genre) && (device === "iphone" || kind === "free"),
  )
  const text = JSON.stringify({
    ...{ country, lists: overall.length + others.length, oldestDay, newestDay, genres: chosen.genres },
    ...{ missing: followedGenres && wanted - got.length, followedSince },
  })
  ofStorefronts.set(chosen, { stand, text })
  return text
}

/** Lists come in one order, and which of them come follows from the question. */
export function stateOf(
  chosen: readonly ChosenLists[],
  since: number | null,
  figures: string | undefined,
): string | null {
  const stamps = [...chosen.map(({ stamps }) => stamps.overall), ...chosen.map(({ stamps }) => stamps.others)]
  const parts = Float64Array.from([since ?? -1])
  if (stamps.every(({ length }) => length === 0)) return null
  const stood = hash("sha256", Buffer.concat([parts, ...stamps].map(({ buffer }) => new Uint8Array(buffer))))
  return (figures === undefined ? stood : hash("sha256", `${stood} ${figures}`)).slice(0, 16)
}
