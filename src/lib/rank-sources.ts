import { RANK_SOURCES, type RankSource } from "./upstreams.ts"

/** Stored codes. A lower code is preferred, and the gaps leave room for new sources. Never change a code. */
export const SOURCE_CODES: Record<RankSource, number> = {
  "apple-web-search": 10,
  "apple-store-search": 20,
  "play-search": 30,
  import: 40,
  foreign: 50,
}

const BY_CODE = new Map(RANK_SOURCES.map((source) => [SOURCE_CODES[source], source]))

/** Returns the rank source of a stored code. Throws if the code is unknown. */
export function sourceOf(code: number): RankSource {
  const source = BY_CODE.get(code)
  if (!source) throw new Error(`no source has the code ${code}`)
  return source
}
