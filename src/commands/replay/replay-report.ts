import type { Platform } from "../../core/observation/provenance.ts"
import type { SourceName } from "../../lib/upstreams.ts"

/** Counts of one source: readings of search results and suggestions, and apps. */
export interface SourceComparison {
  source: SourceName
  /** Parsed with the same result. */
  same: number
  different: number
  /** Number of places in results and suggestions, and of facts of apps, that differ. */
  places: number
  /** Reads that failed as `changed` and can now be parsed. */
  nowReadable: number
  /** Reads that failed as `changed` and still cannot be parsed. */
  stillUnreadable: number
  /** Stored readings that can no longer be parsed. They stay stored. */
  unreadable: number
  /** Readings whose bodies are not stored. */
  notKept: number
  /**
   * Recorded observations. Fewer than those that differ if the parser version was not raised or a better reading is
   * stored.
   */
  recorded: number
}

export interface ReplayExample {
  source: SourceName
  change: "different" | "now readable" | "unreadable"
  platform: Platform
  storefront: string
  /** A term, a prefix, a store id, or store ids with commas. */
  subject: string
  seenAt: Date
  /** The difference, or why it cannot be parsed. */
  detail: string
}

export interface ReplaySummary {
  /** Sources with stored bodies, in alphabetical order. */
  sources: SourceComparison[]
  /** The first few per change and source. */
  examples: ReplayExample[]
}

const EXAMPLES = 20

/** Creates a report that adds up the results of readings. */
export function createReport() {
  const sources = new Map<SourceName, SourceComparison>()
  const examples: ReplayExample[] = []
  const countsOf = (source: SourceName): SourceComparison => {
    const counts = sources.get(source) ?? { source, ...NOTHING }
    sources.set(source, counts)
    return counts
  }
  return {
    add(source: SourceName, count: keyof typeof NOTHING, by: number): void {
      countsOf(source)[count] += by
    },
    example(example: ReplayExample): void {
      const alike = examples.filter(({ source, change }) => source === example.source && change === example.change)
      if (alike.length < EXAMPLES) examples.push(example)
    },
    result: (): ReplaySummary => ({
      sources: [...sources.values()].sort((a, b) => (a.source < b.source ? -1 : 1)),
      examples,
    }),
  }
}

const NOTHING = {
  same: 0,
  different: 0,
  places: 0,
  nowReadable: 0,
  stillUnreadable: 0,
  unreadable: 0,
  notKept: 0,
  recorded: 0,
}

export type ReplayReport = ReturnType<typeof createReport>
