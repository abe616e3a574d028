import type { Tx } from "../../database/types.ts"

/** While nobody waits, an app's estimate is made anew no sooner: the apps of a list are counted with each of its readings. */
const AGAIN_HOURS = 6

/** After counts of apps (store_app ids) were recorded: their estimates are to be made. */
export async function putForwardEstimates(tx: Tx, apps: readonly number[]): Promise<void> {
  if (apps.length === 0) return
  const ids = [...new Set(apps)].sort((a, b) => a - b)
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
