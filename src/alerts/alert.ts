import { addDays, dayOf } from "../formulas/days.ts"
import type { ListingChangeKind } from "../formulas/listing-changes.ts"
import type { Chart, Device, Platform } from "../observations/types.ts"

/** What public data can show. */
export const FINDINGS = [
  "dropped_out", "rank_drop", "rank_rise", "entered", "rival_passed", "rival_beaten", "rival_event", "chart_drop",
  "chart_enter", "featured", "review_wave", "off_topic",
] as const // biome-ignore format: a list to scan
export type FindingType = (typeof FINDINGS)[number]

/** Two measured days of one source. Places are null where the app was absent, as far as was read. */
interface Compared {
  source: string
  /** The earlier day, UTC; the later is the alert's own. */
  against: string
  /** Places read on the later day and on the earlier. */
  depth: number
  wasDepth: number
}

/** dropped_out: rank null. entered: was null. rank_drop, rank_rise: neither. */
export interface RankFacts extends Compared {
  term: string
  rank: number | null
  was: number | null
}

/** An app that is a rival now, `rival` being its store id. */
interface Rival {
  rival: string
  /** Null until one was seen. */
  name: string | null
  /** Named by hand. */
  manual: boolean
}

/** rival_passed, rival_beaten: where both stand and stood. */
export interface PassingFacts extends Compared, Rival {
  term: string
  ours: number | null
  theirs: number | null
  oursWas: number | null
  theirsWas: number | null
}

/** Changes of rivals that are told. */
export const RIVAL_CHANGES = [
  "version", "price", "name", "icon", "screenshots", "rating_jump",
] as const satisfies readonly ListingChangeKind[] // biome-ignore format: a list to scan

/** rival_event: before and after as the change has them (formulas/listing-changes.ts). */
export interface RivalEventFacts extends Rival {
  change: (typeof RIVAL_CHANGES)[number]
  before: unknown
  after: unknown
  source: string
  /** When the last reading that still said what was before was seen, ISO 8601. */
  beforeSeenAt: string
}

/** chart_drop, chart_enter: on a chart of the app's own genre. */
export interface ChartFacts extends Compared {
  device: Device
  chart: Chart
  /** The store's own id. */
  genre: string
  /** As the store names it there; null until it was seen. */
  genreName: string | null
  rank: number | null
  was: number | null
}

/** featured: the editors' card that the app's page shows. */
export interface FeaturedFacts {
  card: "story" | "collection"
  id: string
  title: string | null
  source: string
  /** When the last page without it was seen, ISO 8601. */
  beforeSeenAt: string
}

/** review_wave: reviews of one star of the alert's day, by the day when they were written or last edited. */
export interface WaveFacts {
  /** A storefront on the App Store, a language on Google Play. */
  feed: string
  count: number
  /** Of the days before it, so many of which were known. */
  mean: number
  days: number
}

/** off_topic: none of the first ten results shares a genre with the app. */
export interface TopicFacts {
  term: string
  /** The app's main one, by the store's id and its name there; null until one was seen. */
  genre: string
  genreName: string | null
  /** The main ones of the first results in their order; null = not known. */
  genres: (string | null)[]
  source: string
  /** The measured day before it, when one of them had; null = there was none. */
  against: string | null
}

export interface FactsOf {
  dropped_out: RankFacts
  rank_drop: RankFacts
  rank_rise: RankFacts
  entered: RankFacts
  rival_passed: PassingFacts
  rival_beaten: PassingFacts
  rival_event: RivalEventFacts
  chart_drop: ChartFacts
  chart_enter: ChartFacts
  featured: FeaturedFacts
  review_wave: WaveFacts
  off_topic: TopicFacts
}

/** What was found of one type; its facts are of that type. */
export type Finding = {
  [Type in FindingType]: {
    type: Type
    /** What it is about; with type, storefront and day it names the finding. */
    subject: string
    /** The measured UTC day that shows it. */
    day: string
    /** When the reading that shows it was seen. */
    at: Date
    facts: FactsOf[Type]
  }
}[FindingType]

/** Where an app is measured, in a summary. */
interface Where {
  platform: Platform
  country: string
}

/** A keyword between the last measured day of a week and that of the week before; ranks null = absent. */
export interface WeekMove extends Where {
  term: string
  was: number | null
  rank: number | null
  /** The two days, UTC. */
  against: string
  day: string
}

/** weekly: an app's week, over all its storefronts and stores. A figure that nobody measured is null, or left out of its list. */
export interface WeeklyFacts {
  /** Monday and Sunday, UTC. */
  from: string
  to: string
  /** Tracked keywords, once for each storefront and store; those measured that week; and how those moved that can be compared. */
  keywords: {
    tracked: number
    measured: number
    up: number
    down: number
    entered: number
    dropped: number
    same: number
  }
  /** The biggest moves, at most 5 each way. */
  best: WeekMove[]
  worst: WeekMove[]
  /** As read on the week's last day; gained against the last day of the week before, null = not known. */
  ratings: (Where & { ratings: number | null; rating: number | null; gained: number | null })[]
  /** Written that week, by the feeds that were read without a gap; `low` = of 1 and 2 stars. */
  reviews: { platform: Platform; feed: string; count: number; low: number }[]
  /** Changes of the app's own store pages, counted up to 50. */
  changes: number
  /** The alerts of the week's days, by type, only those there were: rival_event is what rivals changed. */
  alerts: Record<string, number>
}

/** What a week was like, once it is over. */
export interface Weekly {
  type: "weekly"
  subject: ""
  /** The week's Sunday, UTC. */
  day: string
  at: Date
  facts: WeeklyFacts
}

/** A finding, or a summary, in the feed. */
export type Alert = { id: number; appId: string; read: boolean; history: boolean } & (
  | (Finding & {
      platform: Platform
      /** Null where it is of a language, not of a storefront. */
      storefront: string | null
    })
  | (Weekly & { platform: null; storefront: null })
)

/** One storefront of one store in which a tracked app is measured. */
export interface Place {
  appId: string
  workspaceId: number
  platform: Platform
  storefront: string
  /** store_app id. */
  own: number
  /** The store's own id of its main genre; null = not known. */
  genre: string | null
  /** As categoriesOf has them. */
  categories: string[]
  /** The UTC day since when it is tracked; null = days before that are looked at too. */
  since: string | null
  manualRivals: string[] | null
}

/**
 * UTC days, today included, whose readings are looked at. What an import shows of a day before them is history, not news:
 * it stands in the feed at its day, marked so and read, and is delivered nowhere.
 */
export const DAYS_LOOKED_AT = 3

/** The first UTC day of which something is news. */
export function firstNewsDay(now: Date): string {
  return addDays(dayOf(now), 1 - DAYS_LOOKED_AT)
}

export interface Looked {
  place: Place
  /** Its keywords in parts, by the first of each (firstTerms). */
  parts: readonly string[]
  /** The first day looked at, and the last. */
  from: string
  to: string
}
