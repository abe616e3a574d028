import { parseAddressList } from "../access/addresses.ts"
import type { ConsoleReach } from "../accounts/console.ts"
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
