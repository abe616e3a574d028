import { setTimeout as sleep } from "node:timers/promises"
import type { Sql } from "../database/types.ts"
import type { Log } from "../log.ts"
import { fillAppKeywords } from "../observations/derived/app-keywords.ts"
import { APP_TEXTS_FORM, rebuildAppTexts } from "../observations/derived/app-texts.ts"
import { FORM } from "../observations/derived/keyword-lines.ts"

interface FillingProcess {
  start(): void
  /** Ends after the piece under way; the next start begins anew, and passes over what is there. */
  stop(): Promise<void>
}

/** Derives, once for each formula, what a migration cannot make of the rows that were stored before it. */
export function createFilling({ sql, log }: { sql: Sql; log: Log }): FillingProcess {
  const stopping = new AbortController()
  const { signal } = stopping
  let work = Promise.resolve()
  return {
    start() {
      work = fill(sql, log, signal).catch((error) => {
        if (!signal.aborted) log("warn", "not_filled", { reason: (error as Error).message })
      })
    },
    async stop() {
      stopping.abort()
      await work
    },
  }
}

/** What is derived anew, and the formula or form by which it is: kept under its name once it is done. */
const FILLINGS = [
  { name: "app_texts", event: "names_filled", form: APP_TEXTS_FORM, derive: rebuildAppTexts },
  { name: "app_keywords", event: "keywords_filled", form: FORM, derive: fillAppKeywords },
]

async function fill(sql: Sql, log: Log, signal: AbortSignal): Promise<void> {
  for (const { name, event, form, derive } of FILLINGS) {
    const done = String(form)
    const [held] = await sql<{ value: string }[]>`
      select value
      from instance
      where key = ${name}`
    if (held?.value === done) continue
    const count = await derive(
      sql,
      () => sleep(PAUSE_MS, undefined, { signal }).catch(() => {}),
      () => signal.aborted,
    )
    if (signal.aborted) return
    await sql`
      insert into instance (key, value)
      values (${name}, ${done})
      on conflict (key) do update set value = excluded.value`
    if (count > 0) log("info", event, { count })
  }
}

/** Between two pieces, as the embedded database has one backend for all. */
const PAUSE_MS = 20
