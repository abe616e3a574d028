/**
 * Assigns consecutive numbers to ids, starting at 0, so that values per id can be stored in arrays. With a million ids
 * that mostly have a number already, a Map takes six times as long.
 */
export class AppNumbers {
  /** The ids in the order of their numbers. */
  readonly ids: number[] = []
  // Hash table. An entry is a number + 1; 0 marks a free slot.
  #places = new Int32Array(2 ** 14)
  #shift = 32 - 14

  numberOf(id: number): number {
    const last = this.#places.length - 1
    for (let at = Math.imul(id, SPREAD) >>> this.#shift; ; at = (at + 1) & last) {
      const number = (this.#places[at] as number) - 1
      if (number < 0) return this.#add(id, at)
      if (this.ids[number] === id) return number
    }
  }

  #add(id: number, at: number): number {
    const number = this.ids.push(id) - 1
    this.#places[at] = number + 1
    if (this.ids.length * 2 > this.#places.length) this.#widen()
    return number
  }

  #widen(): void {
    const places = new Int32Array(this.#places.length * 4)
    this.#shift -= 2
    for (const [number, id] of this.ids.entries()) {
      let at = Math.imul(id, SPREAD) >>> this.#shift
      while (places[at] !== 0) at = (at + 1) & (places.length - 1)
      places[at] = number + 1
    }
    this.#places = places
  }
}

/** An odd number near 2^32 divided by the golden ratio (Fibonacci hashing), which spreads consecutive ids. */
const SPREAD = 0x9e3779b1
