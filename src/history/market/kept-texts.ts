/** What keeping a text takes besides its characters. */
const BESIDES = 60

/** Texts by app, of so many characters in all, each counted with what keeping it takes: beyond that those kept longest go. */
export class KeptTexts {
  #texts = new Map<number, string>()
  #size = 0
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get(app: number): string | undefined {
    return this.#texts.get(app)
  }

  set(app: number, text: string): void {
    this.delete(app)
    this.#texts.set(app, text)
    this.#size += text.length + BESIDES
    for (const oldest of this.#texts.keys()) {
      if (this.#size <= this.#most) return
      this.delete(oldest)
    }
  }

  delete(app: number): void {
    const text = this.#texts.get(app)
    if (text === undefined) return
    this.#texts.delete(app)
    this.#size -= text.length + BESIDES
  }

  clear(): void {
    this.#texts.clear()
    this.#size = 0
  }
}
