import { setTimeout as sleep } from "node:timers/promises"
import type { Sql } from "../database/types.ts"
import { APP_TEXT_FORMULA } from "../formulas/app-text.ts"
import type { Log } from "../log.ts"
import { rebuildAppTexts } from "../observations/derived/app-texts.ts"

export interface FillingProcess {
  start(): void
  /** Ends after the piece under way; the next start begins anew, and passes over what is there. */
  stop(): Promise<void>
}

/** Derives, once for each formula, by what apps are found: a migration cannot fold the names that were stored before it. */
export function createFilling({ sql, log }: { sql: Sql; log: Log }): FillingProcess {
  const stopping = new AbortController()
  const { signal } = stopping
  let work = Promise.resolve()
  return {
    start() {
      work = fill(sql, log, signal).catch((error) => {
        if (!signal.aborted) log("warn", "names_not_filled", { reason: (error as Error).message })
      })
    },
    async stop() {
      stopping.abort()
      await work
    },
  }
}

async function fill(sql: Sql, log: Log, signal: AbortSignal): Promise<void> {
  const done = String(APP_TEXT_FORMULA)
  const [held] = await sql<{ value: string }[]>`
    select value
    from instance
    where key = 'app_texts'`
  if (held?.value === done) return
  const count = await rebuildAppTexts(
    sql,
    () => sleep(PAUSE_MS, undefined, { signal }).catch(() => {}),
    () => signal.aborted,
  )
  if (signal.aborted) return
  await sql`
    insert into instance (key, value)
    values ('app_texts', ${done})
    on conflict (key) do update set value = excluded.value`
  if (count > 0) log("info", "names_filled", { count })
}

/** Between two pieces, as the embedded database has one backend for all. */
const PAUSE_MS = 20
