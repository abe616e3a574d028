import { FIRST, medianOf } from "../../lib/figure.ts"
import { DAY_MS } from "../../lib/time.ts"

/** The figures of a category cover at most this many places of a list. */
export const PLACES = 100

const RELEASED_DAYS = 365
const UPDATED_DAYS = 90

/** An app on a list. Null if unknown. */
export interface ListedApp {
  name: string | null
  /** The store's id of the publisher. */
  publisherId: string | null
  publisher: string | null
  /** Rating count; 0 if nobody rated it. */
  ratings: number | null
  rating: number | null
  releasedAt: Date | null
  updatedAt: Date | null
  /** Number of languages. */
  languages: number | null
  sizeBytes: number | null
}

/** The number of listed apps for which a figure's input is known (`n`), and the number of listed apps (`of`). */
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
 * Returns the market figures of a top list on a UTC day; `apps` are in list order. The service's specification names
 * the figures for GET /hive/landscape. The calculation is our own, as no public tool documents one: medians rather than
 * means, because rating counts differ by powers of ten, and null if less than half of the apps are known.
 */
export function landscapeOf(apps: readonly ListedApp[], day: string): Landscape {
  const ratings = knownValues(apps.slice(0, FIRST), ({ ratings }) => ratings)
  const since = (days: number) => Date.parse(day) - days * DAY_MS
  return {
    wall: { least: ratings.isEnough ? Math.min(...ratings.values) : null, ...median(ratings) },
    rating: median(knownValues(apps, ({ rating }) => rating)),
    nameLength: median(knownValues(apps, ({ name }) => (name === null ? null : [...name].length))),
    released: share(
      knownValues(apps, ({ releasedAt }) => releasedAt),
      since(RELEASED_DAYS),
    ),
    updated: share(
      knownValues(apps, ({ updatedAt }) => updatedAt),
      since(UPDATED_DAYS),
    ),
    languages: median(knownValues(apps, ({ languages }) => languages)),
    sizeBytes: median(knownValues(apps, ({ sizeBytes }) => sizeBytes)),
    publishers: publishersOf(apps),
  }
}

interface Values<Value> extends Coverage {
  values: NonNullable<Value>[]
  isEnough: boolean
}

function knownValues<Value>(apps: readonly ListedApp[], read: (app: ListedApp) => Value): Values<Value> {
  const values = apps.map(read).filter((value) => value !== null && value !== undefined) as NonNullable<Value>[]
  const [n, of] = [values.length, apps.length]
  return { values, n, of, isEnough: n > 0 && n * 2 >= of }
}

function median({ values, n, of, isEnough }: Values<number | null>) {
  return { median: isEnough ? medianOf(values) : null, n, of }
}

/** Returns the share of values at or after `since`, rounded to three places. */
function share({ values, n, of, isEnough }: Values<Date | null>, since: number) {
  const late = values.filter((at) => at.getTime() >= since).length
  return { share: isEnough ? Math.round((1_000 * late) / n) / 1_000 : null, n, of }
}

/** Publishers with two or more apps on the list, and the number of those apps. */
function publishersOf(apps: readonly ListedApp[]): Landscape["publishers"] {
  // Some readings contain only a publisher's name. Another app on the list may link that name to an id.
  const idOf = new Map(
    apps.flatMap(({ publisher, publisherId }) => (publisherId ? [[publisher, publisherId] as const] : [])),
  )
  const sold = knownValues(apps, ({ publisher, publisherId }) => publisherId ?? idOf.get(publisher) ?? publisher)
  const several = [...Map.groupBy(sold.values, (item) => item).values()].filter(({ length }) => length > 1)
  const { n, of, isEnough } = sold
  return { count: isEnough ? several.length : null, apps: isEnough ? several.flat().length : null, n, of }
}
