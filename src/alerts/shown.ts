import type { Chart, Device, Platform } from "../observations/types.ts"
import type { Alert, FindingType, RIVAL_CHANGES, WeeklyFacts } from "./alert.ts"
import { sentenceOf } from "./sentences.ts"

/** An alert as callers and receivers get it; the fields are described where the feed is (operations/alerts.ts). */
export interface ShownAlert {
  id: number
  type: FindingType | "weekly"
  appId: string
  appName: string
  platform: Platform | null
  country: string | null
  day: string
  at: string
  read: boolean
  history: boolean
  sentence: string
  term: string | null
  rivalId: string | null
  rivalName: string | null
  rivalManual: boolean | null
  rivalBefore: number | null
  rivalAfter: number | null
  change: (typeof RIVAL_CHANGES)[number] | null
  currency: string | null
  device: Device | null
  chart: Chart | null
  genre: string | null
  before: string | number | null
  after: string | number | null
  against: string | null
  depth: number | null
  source: string | null
  week: WeeklyFacts | null
}

/** The alert in flat fields, all of them whatever its type; its sentence as it is read on `today`. */
export function shownAlert(alert: Alert, appName: string, today: string): ShownAlert {
  const { id, type, appId, platform, storefront: country, day, at, read, history } = alert
  const head = { id, type, appId, appName, platform, country, day, at: at.toISOString(), read, history }
  return { ...head, sentence: sentenceOf(alert, today), ...NONE, ...partsOf(alert) }
}

const NONE = {
  ...{ term: null, rivalId: null, rivalName: null, rivalManual: null, rivalBefore: null, rivalAfter: null },
  ...{ change: null, currency: null, device: null, chart: null, genre: null, before: null, after: null },
  ...{ against: null, depth: null, source: null, week: null },
}

function partsOf({ type, facts }: Alert): Partial<ShownAlert> {
  switch (type) {
    case "dropped_out":
    case "rank_drop":
    case "rank_rise":
    case "entered": {
      const { term, rank, was, against, depth, source } = facts
      return { term, before: was, after: rank, against, depth, source }
    }
    case "rival_passed":
    case "rival_beaten": {
      const { term, ours, oursWas, theirs, theirsWas, against, depth, source } = facts
      const ranks = { before: oursWas, after: ours, rivalBefore: theirsWas, rivalAfter: theirs }
      return { ...rivalOf(facts), term, ...ranks, against, depth, source }
    }
    case "rival_event": {
      const { change, source, before, after } = facts
      const { currency = null } = (change === "price" ? after : {}) as { currency?: string }
      return { ...rivalOf(facts), change, currency, before: flat(before), after: flat(after), source }
    }
    case "chart_drop":
    case "chart_enter": {
      const { device, chart, genre, rank, was, against, depth, source } = facts
      return { device, chart, genre, before: was, after: rank, against, depth, source }
    }
    case "featured":
      return { after: facts.title, source: facts.source }
    case "review_wave":
      return { before: facts.mean, after: facts.count }
    case "weekly":
      return { week: facts }
    case "off_topic":
      return { term: facts.term, genre: facts.genre, against: facts.against, source: facts.source }
  }
}

function rivalOf({
  rival,
  name,
  manual,
}: {
  rival: string
  name: string | null
  manual: boolean
}): Partial<ShownAlert> {
  return { rivalId: rival, rivalName: name, rivalManual: manual }
}

/** A price is its figure, pictures are their number. */
function flat(said: unknown): string | number | null {
  if (typeof said === "string" || typeof said === "number") return said
  if (typeof said !== "object" || said === null) return null
  if ("price" in said) return Number(said.price)
  return Object.values(said).flat().length
}
