import { ALL_APPS } from "../../lib/charts.ts"
import { at, parseJson, text } from "../../measuring/parsing/json.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { blockedOr } from "../../measuring/parsing/proof.ts"
import { required } from "../../measuring/parsing/required.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import type { Genre, GenresObservation } from "../kinds/genres.ts"
import { type GenresQuestion, genres } from "../kinds/genres.ts"
import { appleStorefront } from "./storefronts.ts"

const PARSER = 1

/**
 * Reads the App Store's genres with their names in one storefront. The shape is taken from public clients: an object
 * keyed by genre number, in which `subgenres` is again such an object; the root is the genre of all apps. Each genre
 * follows its parent. Throws RangeError when the App Store has no such storefront.
 */
export const appleGenres = {
  name: "apple-genres",
  kind: genres,
  upstream: "itunes.apple.com",
  parser: PARSER,

  request({ storefront }) {
    appleStorefront(storefront)
    return { path: `/WebObjects/MZStoreServices.woa/ws/genres?id=${ALL_APPS}&cc=${storefront}` }
  },

  parse: (body, { storefront }, about) => ({
    kind: "genres",
    source: "apple-genres",
    platform: "ios",
    storefront,
    genres: treeOf(body, storefront),
    origin: "own",
    parser: PARSER,
    ...about,
  }),
} satisfies Source<GenresQuestion, GenresObservation>

const changed = (detail: string) => new ReadFailure("changed", detail)

function treeOf(body: string, storefront: string): Genre[] {
  if (/^\s*</.test(body)) throw blockedOr(changed("a page instead of JSON"), body)
  const root = at(parseJson(body, "the answer"), ALL_APPS)
  if (root === undefined) throw changed("the genre of all apps is missing")
  const genres = [...branchOf(ALL_APPS, root, undefined, storefront)]
  if (genres.length === 1) throw changed("no genre except that of all apps")
  if (new Set(genres.map(({ id }) => id)).size !== genres.length) throw changed("a genre occurs twice")
  return genres
}

// Limits recursion on hostile bodies. The App Store's tree has three levels.
const HIGHEST = 6

function* branchOf(
  id: string,
  node: unknown,
  parent: string | undefined,
  storefront: string,
  height = HIGHEST,
): Generator<Genre> {
  if (height === 0) throw changed("the genre tree is nested too deeply")
  if (!/^[1-9]\d{0,5}$/.test(id) || at(node, "id") !== id) throw changed("a genre is listed under another number")
  const place = /^https?:\/\/[a-z.]+\.apple\.com\/([a-z]{2})\//.exec(text(at(node, "url")) ?? "")?.[1]
  if (place !== undefined && place !== storefront) throw mismatched("the genres are for another storefront", place)
  yield { id, name: required(at(node, "name"), genreName), ...(parent !== undefined && { parent }) }
  const below = at(node, "subgenres")
  if (below === undefined || below === null) return
  if (typeof below !== "object" || Array.isArray(below)) throw changed("the genres have an unknown format")
  for (const [key, child] of Object.entries(below)) yield* branchOf(key, child, id, storefront, height - 1)
}

function genreName(value: unknown): string | undefined {
  const name = text(value)
  return name !== undefined && name.length <= LONGEST_NAME ? name : undefined
}

const LONGEST_NAME = 200
