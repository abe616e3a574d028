import { setTimeout as sleep } from "node:timers/promises"
import { DEMO } from "../../core/observation/provenance.ts"
import type { Recording } from "../../core/recording.ts"
import type { Sql, Tx } from "../../database/types.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { trackApp } from "../../tracking/apps.ts"
import { popularityUntil, readingsOn } from "./readings.ts"
import { INVENTED_APP, INVENTED_KEYWORDS, INVENTED_RIVALS, INVENTED_STOREFRONT } from "./world.ts"

/** The range of the month chart. */
const DAYS = 30
/** Days per transaction, about 50 readings. */
const AT_ONCE = 10
/** Pause between transactions, so that other work can use the only backend of the embedded database. */
const PAUSE_MS = 20

interface InventedOptions {
  workspaceId: number
  now: () => Date
  /** Number of days up to yesterday. */
  days?: number | undefined
}

/**
 * Tracks the app that is in no store and generates a month of searches, pages and answers up to yesterday, newest days
 * first. Repeating it changes nothing; on a later day it adds the missing days. It stops if `assert` throws in a
 * transaction.
 */
export async function loadInvented(
  recording: Recording,
  sql: Sql,
  { workspaceId, now, days = DAYS }: InventedOptions,
  assert: (tx: Tx) => Promise<void> = async () => {},
): Promise<{ recorded: number; alreadyStored: number }> {
  await sql.begin(async (tx) => {
    await assert(tx)
    await trackOnce(tx, workspaceId)
  })
  const loaded = { recorded: 0, alreadyStored: 0 }
  const last = addDays(dayOf(now()), -1)
  const since = Math.min(days, DAYS)
  for (let ago = 0; ago < since; ago += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, since - ago) }, (_, place) => addDays(last, -ago - place))
    const readings = [...some.flatMap(readingsOn), ...(ago === 0 ? popularityUntil(last) : [])]
    const { recorded, alreadyStored } = await recording.record(sql, readings, now, { all: true, finish: assert })
    loaded.recorded += recorded
    loaded.alreadyStored += alreadyStored
    await sleep(PAUSE_MS)
  }
  return loaded
}

async function trackOnce(tx: Tx, workspaceId: number): Promise<void> {
  const tracked = await tx`
    select
    from tracked_app a
    join store_app i on i.id = a.ios_app
    where a.workspace_id = ${workspaceId} and i.store_id = ${INVENTED_APP.id}`
  if (tracked.length > 0) return
  const keywords = INVENTED_KEYWORDS.map(({ term }) => term)
  const about = { iosId: INVENTED_APP.id, name: INVENTED_APP.name, countries: [INVENTED_STOREFRONT] }
  const manualRivals = [`ios:${INVENTED_RIVALS[0]!.id}`]
  await trackApp(tx, { workspaceId, ...about, keywords, manualRivals, origin: DEMO })
}
