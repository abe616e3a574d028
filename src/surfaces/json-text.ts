import { inPieces, piecesOf } from "../vocabulary/pieces.ts"
import { WrittenAnswer } from "../vocabulary/prepared.ts"

/** An answer as JSON. One that is short is written without a stop. */
export async function writeJson(answer: unknown): Promise<string> {
  if (answer instanceof WrittenAnswer) return answer.text
  return hasLongList(answer) ? await inPieces(jsonText(answer)) : JSON.stringify(answer)
}

function hasLongList(answer: unknown): answer is object {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return false
  return Object.values(answer).some((value) => Array.isArray(value) && value.length > MANY)
}

const MANY = 100

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
