import { RANK_SOURCES, type RankSource } from "./upstreams.ts"

/** How a source is stored: the lower code is preferred, and the gaps leave room for sources to come. Never change one. */
export const SOURCE_CODES: Record<RankSource, number> = {
  "apple-web-search": 10,
  "apple-store-search": 20,
  "play-search": 30,
  import: 40,
  foreign: 50,
}

const BY_CODE = new Map(RANK_SOURCES.map((source) => [SOURCE_CODES[source], source]))

/** The source stored under a code. */
export function sourceOf(code: number): RankSource {
  const source = BY_CODE.get(code)
  if (!source) throw new Error(`no source has the code ${code}`)
  return source
}
