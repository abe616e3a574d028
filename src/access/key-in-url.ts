import { Fault } from "../lib/faults.ts"

/** The message does not repeat the URL, because it contains the key. */
export function keyInUrlFault(): Fault {
  const detail =
    "URLs end up in logs. Send the key in the header Authorization: Bearer <key> or x-api-key, and replace this key."
  return new Fault("key_in_url", { detail })
}
