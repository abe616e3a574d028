/** Stopped statements are remembered for this long. */
const WITHIN_MS = 10 * 60_000
const [FIRST_MS, MAX_MS] = [15_000, 5 * 60_000]

/**
 * Counts how often statements were stopped, by their text. Each stop restarts the database for everyone, so a stopped
 * statement is refused for a while.
 */
export class Runaways {
  #stops = new Map<string, number[]>()
  #suspects = new Set<string>()
  #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /**
   * Records that the backend was ended while it ran these statements. If there are several, it is unknown which of them
   * was slow, so each runs alone from then on.
   */
  note(statements: readonly string[]): void {
    const [only] = statements
    if (only === undefined) return
    if (statements.length > 1) for (const each of statements) this.#suspects.add(each)
    else this.#stops.set(only, [...this.#recent(only), this.#now()])
  }

  mustRunAlone(statements: readonly string[]): boolean {
    return this.#suspects.size > 0 && statements.some((each) => this.#suspects.has(each))
  }

  /** Returns for how many more milliseconds these statements are refused. 0 if they may run. */
  refusedFor(statements: readonly string[]): number {
    if (this.#stops.size === 0) return 0
    return Math.max(0, ...statements.map((each) => this.#left(each)))
  }

  #left(statement: string): number {
    const stops = this.#recent(statement)
    const last = stops.at(-1)
    if (last === undefined) return 0
    return last + Math.min(MAX_MS, FIRST_MS * 2 ** (stops.length - 1)) - this.#now()
  }

  #recent(statement: string): number[] {
    const stops = (this.#stops.get(statement) ?? []).filter((at) => this.#now() - at < WITHIN_MS)
    if (stops.length === 0) this.#stops.delete(statement)
    return stops
  }
}
