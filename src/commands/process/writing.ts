import { hash, randomBytes } from "node:crypto"
import type { Sql } from "../../database/types.ts"
import type { Log } from "../../lib/log.ts"
import { openRawBodies, type RawBodies } from "../../measuring/raw-bodies.ts"
import type { Settings } from "../../settings/settings.ts"
import { createWriting, type KeptAnswers, type TextWriter } from "../../texts/port/write.ts"

/** Wires the settings into what writes texts. The address is the operator's own, so it is asked wherever it is. */
export function openWriting({ writer, measuring }: Settings, { sql, log }: { sql: Sql; log: Log }): TextWriter {
  const settings = writer && { ...writer, key: writer.key }
  const ask = (url: string, init: RequestInit) => fetch(url, init)
  return createWriting({
    ...{ sql, log, settings, now: () => new Date(), randomBytes, fetch: ask },
    answers: keptAnswers(openRawBodies({ ...measuring.raw, log })),
  })
}

/** With the bodies of sources, and for as long. */
export function keptAnswers(bodies: Pick<RawBodies, "keep" | "read">): KeptAnswers {
  return {
    async keep(bytes) {
      const sha256 = hash("sha256", bytes, "buffer")
      await bodies.keep({ bytes, sha256, text: "", url: "", seenAt: new Date() })
      return sha256
    },
    async read(sha256) {
      const kept = await bodies.read(sha256).catch(() => null)
      return kept?.bytes ?? null
    },
  }
}
