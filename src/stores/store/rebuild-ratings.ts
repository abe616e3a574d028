import type { Sql } from "../../database/types.ts"
import { lockApps } from "./facts.ts"
import { removeDoubles } from "./rating-quarters.ts"

/** Resolves counts that exist both unpacked and packed, for all apps; the later one stays. Pauses between batches. */
export async function rebuildRatings(sql: Sql, pause: () => Promise<void>): Promise<number> {
  let mended = 0
  for (let after = 0; ; ) {
    const rows = await sql<{ id: number }[]>`
      select distinct app_id as id
      from rating_quarter
      where app_id > ${after}
      order by id
      limit ${AT_ONCE}`
    const apps = rows.map(({ id }) => id)
    if (apps.length === 0) return mended
    mended += await sql.begin(async (tx) => {
      await lockApps(tx, apps)
      return await removeDoubles(tx, apps)
    })
    after = apps.at(-1) as number
    await pause()
  }
}

const AT_ONCE = 50
