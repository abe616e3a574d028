import { parseAddressList } from "../../access/addresses.ts"
import { createSealer } from "../../access/sealed.ts"
import type { AccountReach } from "../../consoles/account-kind.ts"
import { createAccountReading } from "../../consoles/worker.ts"
import { createPlatforms } from "../../consoles/writing/platforms.ts"
import type { Sql } from "../../database/types.ts"
import type { Worker } from "../../jobs/worker.ts"
import type { Platforms } from "../../lib/accounts/platform.ts"
import type { Log } from "../../lib/log.ts"
import { openAccountBodies } from "../../measuring/raw-bodies.ts"
import { safeFetch } from "../../outbound/safe-fetch.ts"
import { recording } from "../../recording.ts"
import type { Settings } from "../../settings/settings.ts"
import { guardedFetch } from "./guarded-fetch.ts"

/**
 * Returns how connected accounts are reached. A host to which the operator assigned another address may be in any
 * network.
 */
export function accountReach(
  { measuring, allowPrivateTargets }: Pick<Settings, "measuring" | "allowPrivateTargets">,
  now: () => Date,
): AccountReach {
  const anywhere = parseAddressList(["0.0.0.0/0", "::/0"])
  return {
    now,
    to(host) {
      const address = measuring.addresses.get(host)
      return address === undefined
        ? { address: `https://${host}`, outbound: guardedFetch(allowPrivateTargets), now }
        : { address, outbound: (url, options) => safeFetch(url, { ...options, allowPrivate: anywhere }), now }
    },
  }
}

/** Opens the accounts of workspaces for writes. */
export async function openPlatforms(
  settings: Pick<Settings, "measuring" | "allowPrivateTargets" | "secretKeys">,
  sql: Sql,
): Promise<Platforms> {
  const sealer = await createSealer(settings.secretKeys)
  return createPlatforms({ sql, sealer, reach: accountReach(settings, () => new Date()) })
}

/** Creates the worker that reads connected accounts. */
export async function openAccountReading(
  settings: Pick<Settings, "measuring" | "allowPrivateTargets" | "secretKeys">,
  { sql, log }: { sql: Sql; log: Log },
): Promise<Worker> {
  const now = () => new Date()
  const bodies = openAccountBodies({ ...settings.measuring.raw, log })
  const sealer = await createSealer(settings.secretKeys)
  const { keep, sweep: sweepBodies } = bodies
  return createAccountReading({ sql, recording, sealer, log, keep, sweepBodies, reach: accountReach(settings, now) })
}
