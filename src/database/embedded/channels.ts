import type { Listen } from "./batches.ts"
import { query } from "./wire.ts"

/** The one backend knows only that some client listens. */
export class Channels<Listener> {
  #listeners = new Map<string, Set<Listener>>()

  /** True when the backend no longer listens to something that others still want. */
  note(listener: Listener, { on, channel }: Listen): boolean {
    if (on) {
      const listeners = this.#listeners.get(channel) ?? new Set()
      this.#listeners.set(channel, listeners.add(listener))
      return false
    }
    if (channel === "*") this.leave(listener)
    else this.#remove(listener, channel)
    return channel === "*" ? this.#listeners.size > 0 : this.#listeners.has(channel)
  }

  /** Forgets the listener; the channels nobody listens to any more. */
  leave(listener: Listener): string[] {
    return [...this.#listeners.keys()].filter((channel) => this.#remove(listener, channel))
  }

  to(channel: string): Iterable<Listener> {
    return this.#listeners.get(channel) ?? []
  }

  relisten(): Buffer {
    return query([...this.#listeners.keys()].map((channel) => `listen ${quoted(channel)}`).join(";"))
  }

  #remove(listener: Listener, channel: string): boolean {
    const listeners = this.#listeners.get(channel)
    if (!listeners?.delete(listener) || listeners.size > 0) return false
    return this.#listeners.delete(channel)
  }
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
