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
  for (let began = performance.now(); ; ) {
    const { done, value } = work.next()
    if (done) return value
    if (performance.now() - began < PIECE_MS) continue
    await turn()
    began = performance.now()
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
