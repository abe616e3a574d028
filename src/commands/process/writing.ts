import { hash, randomBytes } from "node:crypto"
import type { Sql } from "../../database/types.ts"
import type { Log } from "../../lib/log.ts"
import { openRawBodies, type RawBodies } from "../../measuring/raw-bodies.ts"
import type { Settings } from "../../settings/settings.ts"
import { createWriting, type StoredAnswers, type TextWriter } from "../../texts/port/write.ts"

/** Creates the text writer from the settings. The operator chose its address, so private addresses are allowed. */
export function openWriting({ writer, measuring }: Settings, { sql, log }: { sql: Sql; log: Log }): TextWriter {
  const settings = writer && { ...writer, key: writer.key }
  const ask = (url: string, init: RequestInit) => fetch(url, init)
  return createWriting({
    sql,
    log,
    settings,
    now: () => new Date(),
    randomBytes,
    fetch: ask,
    answers: keptAnswers(openRawBodies({ ...measuring.raw, log })),
  })
}

/** Stores the model's answers with the response bodies of sources, for the same time. */
export function keptAnswers(bodies: Pick<RawBodies, "keep" | "read">): StoredAnswers {
  return {
    async keep(bytes) {
      const sha256 = hash("sha256", bytes, "buffer")
      await bodies.keep({ bytes, sha256, text: "", url: "", seenAt: new Date() })
      return sha256
    },
    async read(sha256) {
      const stored = await bodies.read(sha256).catch(() => null)
      return stored?.bytes ?? null
    },
  }
}
