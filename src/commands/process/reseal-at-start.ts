import { countSealed, reseal } from "../../access/reseal.ts"
import { createSealer, SecretKeys } from "../../access/sealed.ts"
import type { Database } from "../../database/types.ts"
import type { Log } from "../../lib/log.ts"
import type { Settings } from "../../settings/settings.ts"

/**
 * Encrypts secrets with the current key on the embedded database. On a server database, other processes may use the
 * earlier key, so the log only explains what to do.
 */
export async function resealAtStart(
  { secretKeys }: Pick<Settings, "secretKeys">,
  { sql, kind }: Pick<Database, "sql" | "kind">,
  log: Log,
): Promise<void> {
  if (!secretKeys || !SecretKeys.hasEarlier(secretKeys)) return
  const sealer = await createSealer(secretKeys)
  if (kind === "embedded") {
    const { resealed, unreadable } = await reseal(sql, sealer)
    if (resealed > 0) log("info", "secrets_resealed", { count: resealed })
    if (unreadable > 0) log("warn", "secrets_unreadable", { count: unreadable, reason: "see: appmeter doctor" })
    return
  }
  const { earlier } = await countSealed(sql, sealer)
  const reason = "once every process has the new SECRET_KEY, run: appmeter secrets reseal"
  if (earlier > 0) log("warn", "secrets_under_earlier_key", { count: earlier, reason })
}
