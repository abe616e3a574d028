import type { Platform } from "../../core/observation/provenance.ts"
import { ownId, type RankedApp } from "../../core/ranked-app.ts"
import type { Db } from "../../database/types.ts"
import { TEXT_SOURCES } from "../../listings/read/listing-texts.ts"

/** A task of a weekly plan whose text appeared on the page afterwards. */
export interface AdoptedTask {
  taskId: string
  storefront: string
  field: string
  proposed: string
  toldAt: Date
  /** Time at which the page was first seen with the text. */
  adoptedAt: Date
  /** State at the last time the task was proposed. */
  keywords: { term: string; rank: number | null; expectedRank: number }[]
}

/** Returns an app's adopted tasks in these storefronts, latest first. */
export async function readAdoptedTasks(
  sql: Db,
  app: RankedApp,
  { platform, storefronts }: { platform: Platform; storefronts: readonly string[] },
  limit: number,
): Promise<AdoptedTask[]> {
  const [storefront = ""] = storefronts
  return await sql<AdoptedTask[]>`
    select t.task_id as "taskId", t.storefront, t.field, t.proposed_text as proposed, t.first_told_at as "toldAt",
      r.first_seen_at as "adoptedAt", t.keywords
    from plan_task t
    cross join lateral (
      select r.first_seen_at
      from listing_run r
      join listing_content c
        on (c.app_id, c.storefront, c.source, c.section, c.digest) = (r.app_id, r.storefront, r.source, r.section,
          r.digest)
      where (r.app_id, r.storefront, r.source, r.section)
          = (${ownId(app, { platform, storefront })}, t.storefront, ${TEXT_SOURCES[platform]}, 'page')
        and r.first_seen_at > t.first_told_at and c.content ->> t.field = t.proposed_text
      order by r.first_seen_at
      limit 1
    ) r
    where t.app_id = ${app.id} and t.platform = ${platform} and t.storefront = any(${storefronts as string[]}::text[])
    order by r.first_seen_at desc, t.task_id
    limit ${limit}`
}
