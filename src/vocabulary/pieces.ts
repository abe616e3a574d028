import { setImmediate as turn } from "node:timers/promises"

/** A piece of work holds the thread for so long, milliseconds, and is not begun anew before others had it. */
const PIECE_MS = 3

/** Work that can be parted wherever it yields; what it returns is its answer. */
type PiecewiseWork<Answer> = Iterator<unknown, Answer>

/**
 * Does long work in pieces: whatever else waits for the one thread comes in between. Between pieces the world may change,
 * so that work reads nothing but what it was given.
 */
export async function inPieces<Answer>(work: PiecewiseWork<Answer>): Promise<Answer> {
  let isLong = false
  for (let began = performance.now(); ; ) {
    const { done, value } = work.next()
    if (!done && performance.now() - began < PIECE_MS) continue
    // what was long ends with a piece, for what is done with its answer takes long as well
    if (!done || isLong) await turn()
    if (done) return value
    isLong = true
    began = performance.now()
  }
}

/** Letters that are hashed or quoted in a fraction of a piece of work. */
const LETTERS = 65_536

/** A text in pieces, none of which begins or ends within a character. */
export function* piecesOf(text: string): Generator<string, void> {
  for (let at = 0; at < text.length; ) {
    const last = text.charCodeAt(at + LETTERS - 1)
    const end = at + LETTERS + (last >= 0xd800 && last < 0xdc00 ? 1 : 0)
    yield text.slice(at, end)
    at = end
  }
}

/** `map` for inPieces. */
export function* eachOf<Item, Made>(items: readonly Item[], make: (item: Item, at: number) => Made) {
  const all: Made[] = []
  for (let at = 0; at < items.length; at++) {
    all.push(make(items[at] as Item, at))
    yield
  }
  return all
}
