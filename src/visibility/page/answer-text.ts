import { type Html, html } from "../../ui/html.ts"

/**
 * Shows a model's answer as readable text. Its Markdown is reduced to lines, bold words and the texts of links, because
 * a model's links may lead anywhere.
 */
export function answerLines(text: string): Html[] {
  const plain = text.replaceAll(LINK, "$1")
  // an excerpt may have its list in one line
  const lines = plain.replaceAll(INLINE_ITEM, "\n$1").split("\n")
  return lines
    .map((line) => line.replace(MARK, "").trim())
    .filter(Boolean)
    .map(boldIn)
}

const LINK = /!?\[([^\]\n]*)\]\([^)\s]*\)/g
const INLINE_ITEM = / (\d{1,2}\. \*\*)/g
/** Headings, quotes and bullets. */
const MARK = /^\s*(?:#{1,6}|>|[-*+])\s+/

function boldIn(line: string): Html {
  const parts = line.split(/(?:\*\*|__)/)
  // an odd number of marks leaves one that closes nothing
  if (parts.length % 2 === 0) return html`<bdi>${line}</bdi>`
  return html`<bdi>${parts.map((part, at) => (at % 2 === 1 ? html`<strong>${part}</strong>` : part))}</bdi>`
}
