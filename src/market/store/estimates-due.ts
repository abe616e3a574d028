import type { FollowUp } from "../../core/recording.ts"
import type { Sql, Tx } from "../../database/types.ts"

/**
 * Minimum hours between two estimates of an app that no call waits for: every chart reading brings new counts of all
 * its apps.
 */
const AGAIN_HOURS = 6

/** Apps of an import wait this many seconds for more counts, or until the import ends, before they are estimated. */
const IMPORT_SECONDS = 60

export const estimates: FollowUp = {
  follow: (tx, { counted, isImport }) => putForwardEstimates(tx, counted, { isImport }),
  async afterImport(sql, { months }) {
    await releaseImportedEstimates(sql)
    await releaseMonths(sql, months)
  },
}

/**
 * Schedules new estimates of apps (store_app ids) whose counts were recorded. Apps of an import wait until the import
 * ends, even if their last estimate is recent: an estimate made during the import would miss some of its counts.
 */
export async function putForwardEstimates(
  tx: Tx,
  apps: readonly number[],
  { isImport = false }: { isImport?: boolean } = {},
): Promise<void> {
  if (apps.length === 0) return
  const ids = [...new Set(apps)].sort((a, b) => a - b)
  if (isImport) {
    await tx`
      insert into estimate_due (app_id, next_at)
      select app_id, clock_timestamp() + ${IMPORT_SECONDS}::int * interval '1 second'
      from unnest(${ids}::int[]) u (app_id)
      order by app_id
      on conflict (app_id) do update
      set next_at = excluded.next_at`
    return
  }
  await tx`
    insert into estimate_due as held (app_id, next_at)
    select app_id, clock_timestamp()
    from unnest(${ids}::int[]) u (app_id)
    order by app_id
    on conflict (app_id) do update
    set next_at = case
        when held.wanted_until > clock_timestamp() then clock_timestamp()
        else greatest(
          clock_timestamp(),
          coalesce(held.made_at, '-infinity') + ${AGAIN_HOURS}::int * interval '1 hour'
        )
      end
    where held.next_at is null or held.wanted_until > clock_timestamp()
      or held.next_at > clock_timestamp() + ${AGAIN_HOURS}::int * interval '1 hour'`
}

/** Makes the estimates of a finished import due now. */
async function releaseImportedEstimates(sql: Sql): Promise<void> {
  await sql`
    update estimate_due
    set next_at = clock_timestamp()
    where next_at > clock_timestamp() and next_at <= clock_timestamp() + ${IMPORT_SECONDS}::int * interval '1 second'`
}

/** Reopens graded months for which an import brought readings, so that they are graded again. */
async function releaseMonths(sql: Sql, months: readonly string[]): Promise<void> {
  if (months.length === 0) return
  await sql`
    update estimate_month
    set graded_to = 0
    where month = any(${months as string[]}::date[]) and graded_at is not null and graded_to > 0`
}
