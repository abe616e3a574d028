// How the evaluation of texts queries a language model: like the product, while counting tokens and outcomes.

import { randomBytes } from "node:crypto"
import type { Write, WritingTask } from "../../src/lib/writing/written-text.ts"
import type { WriterSettings } from "../../src/outbound/providers/ask.ts"
import type { WritingLanguage } from "../../src/texts/languages.ts"
import { writeOnce } from "../../src/texts/port/write-once.ts"
import type { SummedReview } from "../../src/texts/themes/theme-figures.ts"

export interface Feed {
  reviews: readonly SummedReview[]
  languages: readonly WritingLanguage[]
}

export type Settings = WriterSettings & { price?: { input: number; output: number } | undefined }

/** Asks for texts and counts their outcomes (accepted at once, mended, refused), and the tokens and time. */
export function openAsking(settings: Settings) {
  const ends = { first: 0, mended: 0, refused: 0 }
  const usage = { input: 0, output: 0, seconds: 0 }
  const ask = async <Value>(task: WritingTask<Value>): Promise<Value | null> => {
    let refused = 0
    const startedAt = performance.now()
    const result = await writeOnce(task as never, {
      settings,
      fetch: (url, init) => fetch(url, init),
      now: () => new Date(),
      nonce: () => randomBytes(3).toString("hex"),
      signal: AbortSignal.timeout(300_000),
      hasTokens: async () => true,
      used: async ({ input, output }) => {
        usage.input += input
        usage.output += output
      },
      failed: () => void refused++,
    })
    usage.seconds += (performance.now() - startedAt) / 1_000
    ends[!result.done ? "refused" : refused === 0 ? "first" : "mended"]++
    return result.done ? (result.value as Value) : null
  }
  const report = (label: string) => {
    const all = ends.first + ends.mended + ends.refused
    const cents = settings.price && (usage.input * settings.price.input + usage.output * settings.price.output) / 1e4
    const each =
      `${(usage.seconds / all).toFixed(1)} s, ${Math.round((usage.input + usage.output) / all)} ` +
      `tokens${cents === undefined ? "" : `, ${(cents / all).toFixed(3)} cents`}`
    console.log(`${label}: ${ends.first} at once, ${ends.mended} mended, ${ends.refused} refused; each ${each}`)
  }
  return { ask, report }
}

/**
 * Returns the interface through which summaries are written. Nothing is stored, and concurrent requests are not joined.
 */
export function writerOf(settings: Settings, ask: ReturnType<typeof openAsking>["ask"]): Write {
  const write = async <Value>(task: WritingTask<Value>) => {
    const value = await ask(task)
    if (value === null) return { state: "failed", why: "unusable" } as const
    return { state: "done", value, dropped: [], model: settings.model, version: task.version, at: new Date() } as const
  }
  const writer: Write = Object.assign(write, {
    isOn: true,
    contextTokens: settings.contextTokens,
    find: async () => null,
    inSteps: async <Value>(steps: (write: Write) => Promise<Value>): Promise<Value> => await steps(writer),
  })
  return writer
}
