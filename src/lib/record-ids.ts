import { isStoreId } from "./store-ids.ts"
import { normaliseTerm } from "./term.ts"
import { isStorable } from "./text.ts"

export type RecordId =
  | { kind: "app"; appId: string }
  /** `terms` lists the possible meanings of the id. The first one that is tracked is meant. */
  | { kind: "keyword"; appId: string; country: string; terms: string[] }
  | { kind: "rival"; appId: string; platform: "ios" | "android"; storeId: string }

export function appRecordId(appId: string): string {
  return `app:${appId}`
}

export function keywordRecordId(appId: string, country: string, term: string): string {
  return `kw:${appId}:${country}:${encodeURIComponent(term)}`
}

/** Returns the record id of a rival. The platform follows from the form of the store id. */
export function rivalRecordId(appId: string, storeId: string): string {
  return `rival:${appId}:${storeId}`
}

/**
 * Parses a record id. Null if it is malformed. A term may be percent-encoded, as search returns it, or decoded:
 * "50%25%20off" is "50% off".
 */
export function parseRecordId(text: string): RecordId | null {
  const [, kind, appId, rest] = /^(app|kw|rival):([^:]{1,64})(?::(.*))?$/su.exec(text) ?? []
  if (kind === undefined || appId === undefined) return null
  if (kind === "app") return rest === undefined ? { kind, appId } : null
  if (rest === undefined) return null
  return kind === "kw" ? parseKeyword(appId, rest) : parseRivalOf(appId, rest)
}

function parseKeyword(appId: string, rest: string): RecordId | null {
  const [, country, spelt] = /^([a-z]{2}):(.+)$/su.exec(rest) ?? []
  if (country === undefined || spelt === undefined) return null
  const terms = [...new Set([decoded(spelt), spelt].map(normaliseTerm))].filter(isTerm)
  return terms.length > 0 ? { kind: "keyword", appId, country, terms } : null
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns whether a term has a length that can be tracked and no characters that the database cannot store. */
function isTerm(term: string): boolean {
  const length = [...term].length
  return length >= 1 && length <= 150 && isStorable(term)
}

function parseRivalOf(appId: string, storeId: string): RecordId | null {
  const platform = (["ios", "android"] as const).find((store) => isStoreId(store, storeId))
  return platform ? { kind: "rival", appId, platform, storeId } : null
}
