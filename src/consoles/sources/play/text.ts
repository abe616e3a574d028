import { ReadFailure } from "../../../measuring/source.ts"

/** Decodes a report: UTF-16, as Google writes it, or UTF-8. Throws ReadFailure when it is neither. */
export function playText(bytes: Uint8Array): string {
  const [first, second] = bytes
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8"
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    throw new ReadFailure("changed", "the report is neither UTF-16 nor UTF-8")
  }
}
