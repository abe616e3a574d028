import type { Caller } from "../access/caller.ts"
import type { Identify } from "../access/identify.ts"
import { Fault } from "../faults.ts"

/** What a purchase or a new month can lift. */
const LIFTED = new Set<string>(["plan_required", "explorer_required", "credits_exhausted", "key_budget_reached"])

/** Refusals about money rest on figures up to 750 ms old: before one is given, the caller is looked up again. */
export function checkLatest(identify: Identify, caller: Caller, check: () => void): Promise<void> | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (!(error instanceof Fault && LIFTED.has(error.code))) throw error
    return identify.renew(caller).then(check)
  }
}
