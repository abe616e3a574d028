import { randomBytes } from "node:crypto"
import type { Sql } from "../database/types.ts"
import type { Log } from "../log.ts"
import type { Settings } from "../settings/settings.ts"
import { createWriting, type TextWriter } from "../writing/port/write.ts"

/** Wires the settings into what writes texts. The address is the operator's own, so it is asked wherever it is. */
export function openWriting({ writer }: Settings, { sql, log }: { sql: Sql; log: Log }): TextWriter {
  const settings = writer && { ...writer, key: writer.key }
  const ask = (url: string, init: RequestInit) => fetch(url, init)
  return createWriting({ sql, log, settings, now: () => new Date(), randomBytes, fetch: ask })
}
