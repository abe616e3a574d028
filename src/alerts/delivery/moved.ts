import type { Sealer } from "../../access/sealed.ts"
import type { Sql } from "../../database/types.ts"
import type { MovedResult } from "./message.ts"
import { type SealedChannel, sealInside } from "./sealed-channel.ts"

/**
 * Stores the new address of a channel whose receiver moved. Returns the new sealed text. Null if the channel was
 * changed or removed meanwhile, or another process has its lease; then nothing is stored.
 */
export async function storeMoved(
  { sql, sealer }: { sql: Sql; sealer: Sealer },
  { id, sealed, lease }: SealedChannel & { lease?: string },
  { shown, secret }: MovedResult,
): Promise<string | null> {
  const next = await sealInside(sealer, id, secret)
  const rows = await sql`
    update channel
    set sealed = ${next}, moved_from = shown, shown = ${shown.slice(0, 500)}, moved_at = now()
    where id = ${id} and sealed = ${sealed} and (${lease ?? null}::uuid is null or lease = ${lease ?? null}::uuid)
    returning id`
  return rows.length === 0 ? null : next
}
