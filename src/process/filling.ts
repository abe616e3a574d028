import { setTimeout as sleep } from "node:timers/promises"
import type { Sql } from "../database/types.ts"
import { APP_TEXT_FORMULA } from "../formulas/app-text.ts"
import type { Log } from "../log.ts"
import { rebuildAppTexts } from "../observations/derived/app-texts.ts"
import type { RecurringWork } from "../vocabulary/time.ts"

/** Derives the names by which apps are found for rows stored before an upgrade, once for each form. */
export function createFilling({ sql, log }: { sql: Sql; log: Log }): RecurringWork {
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

/** The row of `instance` that holds the form in which names were derived last. */
const KEY = "app_texts"
const FORM = String(APP_TEXT_FORMULA)

async function fill(sql: Sql, log: Log, signal: AbortSignal): Promise<void> {
  const [filled] = await sql<{ value: string }[]>`
    select value
    from instance
    where key = ${KEY}`
  if (filled?.value === FORM) return
  const count = await rebuildAppTexts(
    sql,
    () => sleep(PAUSE_MS, undefined, { signal }).catch(() => {}),
    () => signal.aborted,
  )
  if (signal.aborted) return
  await sql`
    insert into instance (key, value)
    values (${KEY}, ${FORM})
    on conflict (key) do update set value = excluded.value`
  if (count > 0) log("info", "names_filled", { count })
}

/** Between two batches, as the embedded database has one backend for all. */
const PAUSE_MS = 20
