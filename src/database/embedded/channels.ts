import type { Listen } from "./batches.ts"
import { query } from "./wire.ts"

/** Tracks which client listens to which channel, because the single backend cannot distinguish its clients. */
export class Channels<Listener> {
  #listeners = new Map<string, Set<Listener>>()

  /** Returns true if the backend has stopped listening to a channel that other clients still need. */
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

  /** Removes the listener and returns the channels that have no listener any more. */
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
