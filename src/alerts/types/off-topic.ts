import * as v from "valibot"
import { sourceOf } from "../../lib/rank-sources.ts"
import { inStore } from "../../lib/storefront-names.ts"
import { alertType, type FindingOf } from "../alert-type.ts"
import { TOPIC, type TurnedDay } from "../search-days.ts"
import { quoted } from "../wording.ts"

/** Main categories or others, by the store's ids; null = too few are known. None of an app = not known. */
export function isOffTopic(own: readonly string[], results: readonly (readonly string[])[]): boolean | null {
  const known = results.slice(0, TOPIC.first).filter(({ length }) => length > 0)
  if (own.length === 0 || known.length < TOPIC.known) return null
  return !known.some((categories) => categories.some((one) => own.includes(one)))
}

/**
 * Not so on the measured day before, or not measured then. Categories are those known now; too few known on the day
 * before says nothing.
 */
export const offTopic = alertType({
  name: "off_topic",
  options: ["keywordScope"],
  facts: v.strictObject({
    term: v.string(),
    /** The app's main one, by the store's id and its name there; null until one was seen. */
    genre: v.string(),
    genreName: v.nullable(v.string()),
    /** The main ones of the first results in their order; null = not known. */
    genres: v.array(v.nullable(v.string())),
    source: v.string(),
    /** The measured day before it, when one of them had; null = there was none. */
    against: v.nullable(v.string()),
  }),
  example: {
    ...{ term: "tea", genre: "6015", genreName: "Finance", genres: ["6014", null, ...Array(8).fill("6014")] },
    ...{ source: "apple-web-search", against: "2025-11-19" },
  },
  async find(_, { place: { genre, categories }, searches }) {
    if (genre === null) return []
    const { turned } = await searches()
    return turned.filter((day) => isTurned(day, categories)).map((day) => findingOf(day, genre))
  },
  sentence({ term, genre, genreName }, place) {
    const own = genreName ?? `genre ${genre}`
    const was = place.earlier === null ? "" : ` (on ${place.earlier} one did)`
    return `None of the first ten results for ${quoted(term)} ${inStore(place)} shares your category, ${own}${was}`
  },
  fields: ({ term, genre, against, source }) => ({ term, genre, against, source }),
})

function isTurned({ categories, categoriesWas }: TurnedDay, own: readonly string[]): boolean {
  const wasOtherwise = categoriesWas === null || isOffTopic(own, categoriesWas) === false
  return wasOtherwise && isOffTopic(own, categories) === true
}

function findingOf(
  { term, day, at, source, categories, genreName, wasDay: against }: TurnedDay,
  genre: string,
): FindingOf {
  const genres = categories.map(([main = null]) => main)
  const facts = { term, genre, genreName, genres, source: sourceOf(source), against }
  return { type: "off_topic", subject: term, day, at: new Date(at), facts }
}
