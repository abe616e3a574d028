/**
 * Numbers for ids as they come, from 0 on, so that what is known of each stands in an array at its number. Of a million ids, few of
 * them new, a Map took six times as long.
 */
export class AppNumbers {
  /** By number. */
  readonly ids: number[] = []
  // a number more than that of the id whose place it is, 0 = nobody's
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

/** An odd number near 2^32 divided by the golden ratio: ids that follow one another fall far apart. */
const SPREAD = 0x9e3779b1
