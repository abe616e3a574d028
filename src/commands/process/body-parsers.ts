import { openParsers, type Parsers, type ParsersOptions } from "../../measuring/parsing/pool.ts"
import { SOURCES, sourcesIn, TEXT_PARSERS } from "../../sources.ts"

/** Opens the parsers of all sources, with a thread for large bodies. */
export function openBodyParsers(options: Partial<ParsersOptions> = {}): Parsers {
  return openParsers({ sources: sourcesIn(SOURCES), texts: TEXT_PARSERS, start: startThread, ...options })
}

// Collects garbage earlier, in runtimes that have the option.
const OPTIONS = { type: "module", smol: true } as const

function startThread(): Worker {
  return new Worker(new URL("./parse-worker.ts", import.meta.url).href, OPTIONS)
}
