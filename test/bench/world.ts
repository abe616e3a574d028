import { hash } from "node:crypto"
import type { ResultApp } from "../../src/core/observation/line-parts.ts"
import type { SearchObservation } from "../../src/keywords/kinds/search-shape.ts"

// A world in which few apps rank for many keywords and most apps for few, and its lists from day to day. The same
// numbers give the same world. A place moves by about a twelfth of its number, so the first apps stay and the last
// change.

export const APPS = 300_000
/** Number of results on a search page that have names and ratings; the others are only ids. */
const DETAILED = 12

export interface Read {
  /** The number of the keyword. */
  term: number
  day: string
  depth: number
  storefront?: string
  /** Seconds after the day's midnight. */
  second?: number
}

export const termOf = (term: number) => `keyword ${term}`

/** Returns the store id of the app with this place in popularity. */
export const idOf = (app: number) => String(1_000_000_000 + app * 37)

/** Returns the search page of a day for a keyword. */
export function searchOf({ term, day, depth, storefront = "us", second = 3_600 }: Read): SearchObservation {
  const dayNumber = Date.parse(day) / 86_400_000
  const order = placesOf(term, dayNumber, depth)
  return {
    kind: "search",
    source: "apple-web-search",
    platform: "ios",
    storefront,
    term: termOf(term),
    depth,
    complete: true,
    results: order.map((app, place) => (place < DETAILED ? resultApp(app, dayNumber) : { id: idOf(app) })),
    seenAt: new Date(Date.parse(day) + second * 1_000),
    parser: 1,
    origin: "own",
    egress: "us",
    sha256: hash("sha256", `${term} ${day}`, "buffer"),
  }
}

/** Returns the candidate apps of a keyword's lists, the most likely first: a tenth more than the lists show. */
export function candidatesOf(term: number, depth: number): number[] {
  const random = randomFrom(term + 1)
  const apps = new Set<number>()
  // a density that falls with the power 2/3 of an app's number: of 1,000 draws some 140 are among the first 800
  while (apps.size < Math.ceil(depth * 1.1)) apps.add(Math.floor(APPS * random() ** 3))
  return [...apps]
}

function placesOf(term: number, dayNumber: number, depth: number): number[] {
  const random = randomFrom(Math.imul(term + 1, 7_919) + dayNumber)
  const candidates = candidatesOf(term, depth).map((app, place) => ({
    app,
    at: place + (0.4 + place / 12) * (random() + random() - 1),
  }))
  return candidates
    .sort((a, b) => a.at - b.at)
    .slice(0, depth)
    .map(({ app }) => app)
}

function resultApp(app: number, dayNumber: number): ResultApp {
  const ratings = Math.floor(3e6 / (1 + app)) + (dayNumber % 1_000)
  return {
    id: idOf(app),
    name: `App ${app}: what it is called in the store`,
    icon:
      `https://is1-ssl.mzstatic.com/image/thumb/Purple221/v4/${app}/AppIcon-0-0-1x_U007emarketing-0-8-0-85-220.png/` +
      "{w}x{h}.png",
    developer: `Developer ${app % 40_000}, Inc.`,
    bundleId: `com.example.developer${app % 40_000}.app${app}`,
    ratings,
    rating: 3 + (app % 20) / 10,
  }
}

/** Returns numbers from 0 to below 1, the same for the same seed (mulberry32, public domain). */
function randomFrom(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
