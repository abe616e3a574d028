import { parseAddressList } from "../access/addresses.ts"
import { createSealer } from "../access/sealed.ts"
import type { ConsoleReach } from "../accounts/console.ts"
import { createAccountReading } from "../accounts/worker.ts"
import type { Sql } from "../database/types.ts"
import type { Worker } from "../leases/worker.ts"
import type { Log } from "../log.ts"
import { openRawBodies } from "../measuring/raw-bodies.ts"
import { safeFetch } from "../outbound/safe-fetch.ts"
import type { Settings } from "../settings/settings.ts"
import { CONSOLE_HOST } from "../vocabulary/upstreams.ts"
import { guardedFetch } from "./guarded-fetch.ts"

/** An address that the operator put in the host's place may lie in any network. */
export function consoleReach(
  { measuring, allowPrivateTargets }: Pick<Settings, "measuring" | "allowPrivateTargets">,
  now: () => Date,
): ConsoleReach {
  const address = measuring.addresses.get(CONSOLE_HOST)
  const anywhere = parseAddressList(["0.0.0.0/0", "::/0"])
  return address === undefined
    ? { address: `https://${CONSOLE_HOST}`, outbound: guardedFetch(allowPrivateTargets), now }
    : { address, outbound: (url, options) => safeFetch(url, { ...options, allowPrivate: anywhere }), now }
}

/** Reads the reports of connected accounts, once started. */
export async function openAccountReading(
  settings: Pick<Settings, "measuring" | "allowPrivateTargets" | "secretKeys">,
  { sql, log }: { sql: Sql; log: Log },
): Promise<Worker> {
  const now = () => new Date()
  const { keep } = openRawBodies({ ...settings.measuring.raw, log })
  const sealer = await createSealer(settings.secretKeys)
  return createAccountReading({ sql, sealer, log, keep, reach: consoleReach(settings, now) })
}
