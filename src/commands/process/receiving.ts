import { createSealer } from "../../access/sealed.ts"
import { storeMessage } from "../../consoles/billing/receive.ts"
import { APPLE_ROOTS } from "../../consoles/billing/signed-payload.ts"
import type { Sql } from "../../database/types.ts"
import type { ReceiveMessage } from "../../http/messages.ts"
import { recording } from "../../recording.ts"
import type { Settings } from "../../settings/settings.ts"

/**
 * Returns the receiver of messages to /in/<account>. Undefined without SECRET_KEY, because messages cannot be verified.
 */
export async function createReceiving(
  sql: Sql,
  { secretKeys }: Pick<Settings, "secretKeys">,
  roots: readonly string[] = APPLE_ROOTS,
): Promise<ReceiveMessage | undefined> {
  if (!secretKeys) return undefined
  const parts = { sql, recording, sealer: await createSealer(secretKeys), now: () => new Date() }
  return async (account, message) => {
    const receipt = await storeMessage(parts, account, { ...message, roots })
    return typeof receipt === "object" || receipt === "unreadable" ? receipt : receipt !== "not theirs"
  }
}
