import { text } from "../../measuring/parsing/json.ts"

/**
 * Converts the HTML of a listing to plain text: line breaks, a few emphasis tags and character references. Undefined if
 * nothing remains.
 */
export function plainText(html: string): string | undefined {
  const lines = html.replace(/<br\s*\/?>/gi, "\n").replace(/<\/?[a-z][^<>]*>/gi, "")
  return text(lines.replace(/&(?:amp|lt|gt|quot|nbsp|#\d{1,7}|#x[0-9a-f]{1,6});/gi, signOf))
}

const SIGNS: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&nbsp;": "\u00a0" }

/** Returns the character of a reference. Returns the reference itself if there is no such character. */
function signOf(reference: string): string {
  const lower = reference.toLowerCase()
  const named = SIGNS[lower]
  if (named !== undefined) return named
  const code = lower.startsWith("&#x") ? Number.parseInt(lower.slice(3), 16) : Number.parseInt(lower.slice(2), 10)
  const isSign = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  return isSign ? String.fromCodePoint(code) : reference
}
