import { piecesOf } from "../vocabulary/pieces.ts"

/** What JSON.stringify makes of a text; parted, for it may be megabytes. */
export function* quotedText(text: string): Generator<unknown, string> {
  const quoted: string[] = []
  for (const piece of piecesOf(text)) {
    quoted.push(JSON.stringify(piece).slice(1, -1))
    yield
  }
  return `"${quoted.join("")}"`
}

/** A list of so many items is long: it is not written at once. */
const LONG = 64

/** What JSON.stringify makes of an object; parted between the items of its long lists, for a list may be megabytes. */
export function* jsonText(answer: object): Generator<unknown, string> {
  const fields: string[] = []
  for (const [name, value] of Object.entries(answer)) {
    const isLong = Array.isArray(value) && value.length >= LONG
    const text = isLong ? `[${(yield* itemTexts(value)).join(",")}]` : JSON.stringify(value)
    if (text !== undefined) fields.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${fields.join(",")}}`
}

function* itemTexts(items: readonly unknown[]): Generator<unknown, string[]> {
  const texts: string[] = []
  for (const item of items) {
    texts.push(JSON.stringify(item) ?? "null")
    if (texts.length % 8 === 0) yield
  }
  return texts
}
