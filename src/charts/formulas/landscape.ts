import { FIRST, medianOf } from "../../lib/figure.ts"
import { DAY_MS } from "../../lib/time.ts"

/** How many places of a list a category's figures are of. */
export const PLACES = 100

const RELEASED_DAYS = 365
const UPDATED_DAYS = 90

/** An app on a list, as far as it is known; null = not known. */
export interface ListedApp {
  name: string | null
  /** The store's own id of who sells it. */
  publisherId: string | null
  publisher: string | null
  /** How many ratings; 0 = nobody rated it. */
  ratings: number | null
  rating: number | null
  releasedAt: Date | null
  updatedAt: Date | null
  /** How many. */
  languages: number | null
  sizeBytes: number | null
}

/** Of how many of the listed apps it is known what a figure is made of. */
interface Coverage {
  n: number
  of: number
}

interface Landscape {
  wall: Coverage & { least: number | null; median: number | null }
  rating: Coverage & { median: number | null }
  nameLength: Coverage & { median: number | null }
  released: Coverage & { share: number | null }
  updated: Coverage & { share: number | null }
  languages: Coverage & { median: number | null }
  sizeBytes: Coverage & { median: number | null }
  publishers: Coverage & { count: number | null; apps: number | null }
}

/**
 * What stands in the way on a top list of a UTC day, its apps in their order. The figures are those that the service's
 * specification names for GET /hive/landscape; how each is reckoned is our own, as no peer publishes it: medians rather than
 * means, as rating counts differ by powers of ten; and none of which less than half of the apps is known.
 */
export function landscapeOf(apps: readonly ListedApp[], day: string): Landscape {
  const ratings = known(apps.slice(0, FIRST), ({ ratings }) => ratings)
  const since = (days: number) => Date.parse(day) - days * DAY_MS
  return {
    wall: { least: ratings.isEnough ? Math.min(...ratings.values) : null, ...median(ratings) },
    rating: median(known(apps, ({ rating }) => rating)),
    nameLength: median(known(apps, ({ name }) => (name === null ? null : [...name].length))),
    released: share(
      known(apps, ({ releasedAt }) => releasedAt),
      since(RELEASED_DAYS),
    ),
    updated: share(
      known(apps, ({ updatedAt }) => updatedAt),
      since(UPDATED_DAYS),
    ),
    languages: median(known(apps, ({ languages }) => languages)),
    sizeBytes: median(known(apps, ({ sizeBytes }) => sizeBytes)),
    publishers: publishersOf(apps),
  }
}

interface Values<Value> extends Coverage {
  values: NonNullable<Value>[]
  isEnough: boolean
}

function known<Value>(apps: readonly ListedApp[], read: (app: ListedApp) => Value): Values<Value> {
  const values = apps.map(read).filter((value) => value !== null && value !== undefined) as NonNullable<Value>[]
  const [n, of] = [values.length, apps.length]
  return { values, n, of, isEnough: n > 0 && n * 2 >= of }
}

function median({ values, n, of, isEnough }: Values<number | null>) {
  return { median: isEnough ? medianOf(values) : null, n, of }
}

/** The part of them that lies at that moment or after it, to three places. */
function share({ values, n, of, isEnough }: Values<Date | null>, since: number) {
  const late = values.filter((at) => at.getTime() >= since).length
  return { share: isEnough ? Math.round((1_000 * late) / n) / 1_000 : null, n, of }
}

/** Those who have two apps or more on the list, and how many these are. */
function publishersOf(apps: readonly ListedApp[]): Landscape["publishers"] {
  // some readings say a publisher's name alone: it is the id that another app on the list has under that name
  const idOf = new Map(
    apps.flatMap(({ publisher, publisherId }) => (publisherId ? [[publisher, publisherId] as const] : [])),
  )
  const sold = known(apps, ({ publisher, publisherId }) => publisherId ?? idOf.get(publisher) ?? publisher)
  const several = [...Map.groupBy(sold.values, (one) => one).values()].filter(({ length }) => length > 1)
  const { n, of, isEnough } = sold
  return { count: isEnough ? several.length : null, apps: isEnough ? several.flat().length : null, n, of }
}
