import { hash } from "node:crypto"

/**
 * Encodes the position of a page's end as a cursor for the next page. A checksum over the call and the position detects
 * cursors of other calls, truncated ones and invented ones. Anyone can calculate it, so the position must be validated
 * like any input.
 */
export function cursorOf(called: unknown, place: unknown): string {
  const text = JSON.stringify(place)
  return Buffer.from(`${sealOf(called, text)}${text}`).toString("base64url")
}

/** Decodes the position of a cursor for exactly this call. Undefined for any other text. */
export function placeIn(called: unknown, cursor: string): unknown {
  const bytes = Buffer.from(cursor, "base64url")
  // Decoding ignores characters outside the alphabet.
  if (bytes.toString("base64url") !== cursor) return undefined
  const text = bytes.toString("utf8")
  const place = text.slice(SEAL)
  return text.slice(0, SEAL) === sealOf(called, place) ? parsed(place) : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const SEAL = 12

function sealOf(called: unknown, place: string): string {
  return hash("sha256", JSON.stringify([called, place]), "base64url").slice(0, SEAL)
}
