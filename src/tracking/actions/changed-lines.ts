import type { Diff } from "../../core/action.ts"
import { isRecord } from "../../lib/objects.ts"

interface LineBounds {
  lines: number
  /** Maximum characters of each line. */
  characters: number
}

/** Bounds that an assistant's client displays well. */
const SHORT: LineBounds = { lines: 20, characters: 300 }
/** Bounds for the person who approves a write: more than any write contains. */
export const WHOLE: LineBounds = { lines: 1_000, characters: 20_000 }

/**
 * Returns what a write would change, one line per field, for a reader who has not seen the preview: "keywords: +
 * kettle, teapot".
 */
export function changedLines({ before, after }: Diff, bounds = SHORT): string[] {
  const lines = [...linesOf("", before, after)].map((line) => cut(line, bounds.characters))
  const more = lines.length - bounds.lines
  return more > 0 ? [...lines.slice(0, bounds.lines), `and ${more} more`] : lines
}

function* linesOf(path: string, was: unknown, is: unknown): Generator<string> {
  const [wasText, isText] = [shown(was), shown(is)]
  if (wasText === isText) return
  if (isRecord(was) && isRecord(is)) {
    for (const name of new Set([...Object.keys(was), ...Object.keys(is)]))
      yield* linesOf(path === "" ? name : `${path}.${name}`, was[name], is[name])
  } else if (Array.isArray(was) && Array.isArray(is)) {
    yield* listLines(path, was, is)
  } else {
    yield `${path}: ${wasText} → ${isText}`
  }
}

/** Lists of records with equal lengths are compared item by item, other lists by added and removed items. */
function* listLines(path: string, was: readonly unknown[], is: readonly unknown[]): Generator<string> {
  if (was.length === is.length && [...was, ...is].every(isRecord)) {
    for (const [at, one] of was.entries()) yield* linesOf(path, one, is[at])
    return
  }
  const [had, has] = [new Set(was.map(shown)), new Set(is.map(shown))]
  const gained = [...has].filter((ha) => !had.has(ha))
  const lost = [...had].filter((item) => !has.has(item))
  if (gained.length > 0) yield `${path}: + ${gained.join(", ")}`
  if (lost.length > 0) yield `${path}: - ${lost.join(", ")}`
  if (gained.length + lost.length === 0) yield `${path}: in another order`
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing")
}

function cut(line: string, most: number): string {
  return line.length > most ? `${line.slice(0, most)}…` : line
}
