import { json } from "../database/json.ts"
import type { Sql } from "../database/types.ts"
import { type RunListener, recurring } from "../jobs/timers.ts"
import type { Kind } from "./due-kind.ts"

/** Milliseconds between heartbeats. Three may fail before the process counts as gone (measuring/readers.ts). */
const EVERY_MS = 20_000

export interface SignOfLife {
  begin(): void
  end(): Promise<void>
}

interface SignOfLifeParts {
  sql: Sql
  kinds: readonly Kind[]
  egress: string
  ends: RunListener
}

export function createSignOfLife({ sql, kinds, egress, ends }: SignOfLifeParts): SignOfLife {
  const process = crypto.randomUUID()
  const reads = kinds.map(({ name, platform, upstream, storefronts = null }) => {
    return { kind: name, platform, upstream, storefronts }
  })
  const sign = recurring(EVERY_MS, () => storeSign(sql, { process, egress, reads }), ends)
  let begun = false
  return {
    begin() {
      begun = true
      sign.start()
    },
    async end() {
      if (!begun) return
      await sign.stop()
      await sql`delete from reader where process = ${process}`
    },
  }
}

/** Stores the heartbeat of this process and deletes the rows of processes that ended a day ago. */
async function storeSign(sql: Sql, { process, egress, reads }: { process: string; egress: string; reads: object[] }) {
  await sql`
    with gone as (
      delete from reader
      where seen_at < now() - interval '1 day'
    )
    insert into reader (process, egress, reads)
    values (${process}, ${egress}, ${json(sql, reads)})
    on conflict (process) do update
    set seen_at = now()`
}
