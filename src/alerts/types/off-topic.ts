import * as v from "valibot"
import { sourceOf } from "../../lib/rank-sources.ts"
import { inStore } from "../../lib/storefront-names.ts"
import { alertType, type FindingOf } from "../alert-type.ts"
import { TOPIC, type TurnedDay } from "../search-days.ts"
import { quoted } from "../wording.ts"

/** Compares categories by the store's ids. Null if the app's categories are unknown, or those of too many results. */
export function isOffTopic(ownCategories: readonly string[], results: readonly (readonly string[])[]): boolean | null {
  const categorised = results.slice(0, TOPIC.first).filter(({ length }) => length > 0)
  if (ownCategories.length === 0 || categorised.length < TOPIC.known) return null
  return !categorised.some((categories) => categories.some((category) => ownCategories.includes(category)))
}

/**
 * The first results share no category with the app, and the previous measured day was different or missing. Uses
 * current categories. If too few are known for the previous day, there is no alert.
 */
export const offTopic = alertType({
  name: "off_topic",
  options: ["keywordScope"],
  facts: v.strictObject({
    term: v.string(),
    /** The store's id of the app's main category. Its name is null if unknown. */
    genre: v.string(),
    genreName: v.nullable(v.string()),
    /** The main categories of the first results, in order. Null if unknown. */
    genres: v.array(v.nullable(v.string())),
    source: v.string(),
    /** The previous measured day, on which a result shared a category. Null if there was none. */
    against: v.nullable(v.string()),
  }),
  example: {
    term: "tea",
    genre: "6015",
    genreName: "Finance",
    genres: ["6014", null, ...Array(8).fill("6014")],
    source: "apple-web-search",
    against: "2025-11-19",
  },
  async find(_, { place: { genre, categories }, searches }) {
    if (genre === null) return []
    const { turned } = await searches()
    return turned.filter((day) => isTurned(day, categories)).map((day) => findingOf(day, genre))
  },
  sentence({ term, genre, genreName }, place) {
    const category = genreName ?? `genre ${genre}`
    const was = place.earlier === null ? "" : ` (on ${place.earlier} one did)`
    return `None of the first ten results for ${quoted(term)} ${inStore(place)} shares your category, ${category}${was}`
  },
  fields: ({ term, genre, against, source }) => ({ term, genre, against, source }),
})

function isTurned({ categories, categoriesWas }: TurnedDay, ownCategories: readonly string[]): boolean {
  const wasOtherwise = categoriesWas === null || isOffTopic(ownCategories, categoriesWas) === false
  return wasOtherwise && isOffTopic(ownCategories, categories) === true
}

function findingOf(
  { term, day, at, source, categories, genreName, wasDay: against }: TurnedDay,
  genre: string,
): FindingOf {
  const genres = categories.map(([main = null]) => main)
  const facts = { term, genre, genreName, genres, source: sourceOf(source), against }
  return { type: "off_topic", subject: term, day, at: new Date(at), facts }
}
