import type { ListingAllowance } from "../../access/allowances.ts"
import type { Sql } from "../../database/types.ts"

/** A text that was asked for, whether it is written yet or not. */
export interface TranslationJob {
  appId: string
  locale: string
  digest: string
  /** It was begun a day ago: what is not written by now is not being written. */
  isOld: boolean
  allowance: ListingAllowance
  /** What was taken for it. */
  unit: string
  /** An earlier text rests on the same unit: it stays whatever becomes of this one. */
  keepsUnit: boolean
}

export async function findJob(sql: Sql, appId: string, locale: string): Promise<TranslationJob | null> {
  const [row] = await sql<TranslationJob[]>`
    select ${columns(sql)}
    from listing_translation
    where (app_id, locale) = (${appId}, ${locale})`
  return row ?? null
}

/** Those of a workspace, the newest first. */
export async function findAllJobs(sql: Sql, workspaceId: number): Promise<TranslationJob[]> {
  return await sql<TranslationJob[]>`
    select ${columns(sql)}
    from listing_translation
    where app_id in (select id from tracked_app where workspace_id = ${workspaceId})
    order by begun_at desc, app_id, locale
    limit 100`
}

function columns(sql: Sql) {
  return sql`app_id as "appId", locale, digest, begun_at < now() - interval '1 day' as "isOld", allowance, unit,
    keeps_unit as "keepsUnit"`
}

export async function storeJob(sql: Sql, job: Omit<TranslationJob, "isOld">): Promise<void> {
  const { appId, locale, digest, allowance, unit, keepsUnit } = job
  await sql`
    insert into listing_translation as t (app_id, locale, digest, allowance, unit, keeps_unit)
    values (${appId}, ${locale}, ${digest}, ${allowance}, ${unit}, ${keepsUnit})
    on conflict (app_id, locale) do update
    set digest = excluded.digest, begun_at = now(), allowance = excluded.allowance, unit = excluded.unit,
      keeps_unit = excluded.keeps_unit`
}

/** False where another call has done so, or begun anew. */
export async function deleteJob(sql: Sql, { appId, locale, digest }: TranslationJob): Promise<boolean> {
  const { count } = await sql`
    delete from listing_translation
    where (app_id, locale, digest) = (${appId}, ${locale}, ${digest})`
  return count > 0
}
