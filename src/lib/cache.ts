/** A cache of at most `max` entries. Evicts the entry that was set first. */
export class Cache<Key, Value> {
  readonly #max: number
  readonly #entries = new Map<Key, Value>()

  constructor(max: number) {
    this.#max = max
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#max) this.#entries.delete(this.#entries.keys().next().value as Key)
  }

  getOrMake(key: Key, make: () => Value): Value {
    const cached = this.#entries.get(key)
    if (cached !== undefined) return cached
    const made = make()
    this.set(key, made)
    return made
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }
}
