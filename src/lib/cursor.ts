import { hash } from "node:crypto"

/**
 * Where a page ended, as the text that asks for the next one. It is sealed with what was called, so that one of another call,
 * cut or written by hand is known as that. The seal is no secret: what a place says is to be checked like any input.
 */
export function cursorOf(called: unknown, place: unknown): string {
  const text = JSON.stringify(place)
  return Buffer.from(`${sealOf(called, text)}${text}`).toString("base64url")
}

/** The place that a cursor of this very call names; undefined for any other text. */
export function placeIn(called: unknown, cursor: string): unknown {
  const bytes = Buffer.from(cursor, "base64url")
  // decoding passes over what is none of its characters
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
