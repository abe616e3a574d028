import { Fault } from "../lib/faults.ts"

/** The response does not repeat the URL. */
export function keyInUrlFault(): Fault {
  const detail =
    "Addresses end up in logs: send the key as Authorization: Bearer <key> or x-api-key, and make a new one."
  return new Fault("key_in_url", { detail })
}
