import { ObservationProblem } from "../../core/observation/invariants.ts"
import type { StoreObservation } from "../../core/observation/provenance.ts"
import { rulesOf } from "../../core/observation/shape.ts"
import { ReadFailure } from "../source.ts"

type RowShape = Parameters<typeof rulesOf>[0]

/**
 * Collects rows that cannot be read. Each is skipped without affecting the others; the owner sees the number of skipped
 * rows and the reason for the first.
 */
export class PutAside {
  #count = 0
  #reason = ""
  readonly #notes = new Set<string>()

  /** Runs the work of one row. Skips the row if it cannot be read or stored. */
  row(name: string, work: () => void): void {
    try {
      work()
    } catch (error) {
      if (!(error instanceof ReadFailure) && !(error instanceof ObservationProblem)) throw error
      this.add(name, error.message)
    }
  }

  /** Runs the work of each row, as row() does. `nameOf` names a row by its place. */
  each<Row>(rows: readonly Row[], nameOf: (row: Row, place: number) => string, work: (row: Row) => void): void {
    for (const [place, row] of rows.entries()) this.row(nameOf(row, place), () => work(row))
  }

  add(name: string, reason: string): void {
    this.#count++
    if (this.#count === 1) this.#reason = `${name}: ${reason}`
  }

  /** Adds a note on other missing data. */
  note(text: string): void {
    this.#notes.add(text)
  }

  /** Throws ReadFailure if every row was skipped: such a response is unreadable, not empty. */
  assertSome(rows: readonly unknown[]): void {
    if (rows.length === 0 && this.#count > 0) throw new ReadFailure("changed", this.#rows())
  }

  /** Returns the summary. Null if nothing was skipped. */
  text(): string | null {
    const parts = [...(this.#count > 0 ? [this.#rows()] : []), ...this.#notes]
    return parts.length > 0 ? parts.join("; ").slice(0, MAX_TEXT) : null
  }

  #rows(): string {
    if (this.#count === 1) return `1 row cannot be read (${this.#reason})`
    return `${this.#count} rows cannot be read (the first: ${this.#reason})`
  }
}

const MAX_TEXT = 1_000

/**
 * Returns a function that returns a row of this shape unchanged. It throws ObservationProblem if the row could not be
 * stored.
 */
export function checkedRow<Row extends object>(shape: RowShape): (row: Row) => Row {
  const check = rulesOf(shape)
  return (row) => {
    check?.(row, NOTHING)
    return row
  }
}

// the rules of a row do not use the observation
const NOTHING = {} as StoreObservation
