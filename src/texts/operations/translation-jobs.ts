import type { ListingAllowance } from "../../access/allowances.ts"
import type { Sql } from "../../database/types.ts"

/** A requested translation, finished or not. */
export interface TranslationJob {
  appId: string
  locale: string
  digest: string
  /** True if the job began over a day ago. No process still works on an unfinished job of that age. */
  isOld: boolean
  allowance: ListingAllowance
  /** The unit that the job took from the allowance. */
  unit: string
  /** True if an earlier translation used the same unit. The unit is then not given back when this one fails. */
  keepsUnit: boolean
}

export async function findJob(sql: Sql, appId: string, locale: string): Promise<TranslationJob | null> {
  const [row] = await sql<TranslationJob[]>`
    select ${columns(sql)}
    from listing_translation
    where (app_id, locale) = (${appId}, ${locale})`
  return row ?? null
}

/** Returns the translations of a workspace, newest first. */
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

/** Deletes a translation job. Returns false if another call deleted or restarted it. */
export async function deleteJob(sql: Sql, { appId, locale, digest }: TranslationJob): Promise<boolean> {
  const { count } = await sql`
    delete from listing_translation
    where (app_id, locale, digest) = (${appId}, ${locale}, ${digest})`
  return count > 0
}
