import type { Platform } from "../../core/observation/provenance.ts"
import type { SourceName } from "../../lib/upstreams.ts"

/** Of one source: readings of search results, answers of suggestions, and what was said of apps, app by app. */
export interface SourceComparison {
  source: SourceName
  /** Read as they were. */
  same: number
  different: number
  /** Places of results and suggestions, and facts of apps, that differ in those. */
  places: number
  /** Reads that had failed as `changed`, and can be read. */
  nowReadable: number
  /** Of those that cannot. */
  stillUnreadable: number
  /** Stored, and not to be read any more. What is stored stays. */
  unreadable: number
  /** Their bodies are not kept. */
  notKept: number
  /** Observations recorded; fewer than differ where the parser's version was not raised, or a better one is held. */
  recorded: number
}

export interface ReplayExample {
  source: SourceName
  change: "different" | "now readable" | "unreadable"
  platform: Platform
  storefront: string
  /** A term, a beginning, a store id, or store ids with commas. */
  subject: string
  seenAt: Date
  /** What differs, or why it cannot be read. */
  detail: string
}

export interface ReplaySummary {
  /** In alphabetical order; those of which nothing is stored are left out. */
  sources: SourceComparison[]
  /** The first few of each change of each source. */
  examples: ReplayExample[]
}

const EXAMPLES = 20

/** Adds up what became of readings. */
export function createReport() {
  const sources = new Map<SourceName, SourceComparison>()
  const examples: ReplayExample[] = []
  const of = (source: SourceName): SourceComparison => {
    const held = sources.get(source) ?? { source, ...NOTHING }
    sources.set(source, held)
    return held
  }
  return {
    add(source: SourceName, count: keyof typeof NOTHING, by: number): void {
      of(source)[count] += by
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
