import { Fault } from "../lib/faults.ts"
import type { Caller } from "./caller.ts"
import { type Plan, planCovers } from "./plans.ts"
import type { Right } from "./scopes.ts"

export interface Requirements {
  scope: Right | null
  plan: Plan
  /** Which callers may make Hive calls: those with a credit pack or Explorer ("pack"), or only those with Explorer. */
  hive?: "pack" | "explorer" | undefined
}

/**
 * Throws plan_required, scope_required or explorer_required, in this order, if the caller lacks a right. Test keys need
 * no rights.
 */
export function checkRights(
  caller: Caller,
  surface: "rest" | "tools" | "pages",
  { scope, plan, hive }: Requirements,
): void {
  if (surface === "rest" && caller.plan === "free" && !caller.hasPack && !caller.boughtPack) {
    throw new Fault("plan_required", {
      detail: "The REST API needs the Pro plan or above, or a credit pack. The tool endpoint works on every plan.",
    })
  }
  if (!planCovers(caller.plan, plan)) {
    throw new Fault("plan_required", { detail: `This call needs the ${PLAN_NAMES[plan]} plan or above.` })
  }
  if (scope && !caller.scopes.includes(scope)) throw new Fault("scope_required", { scope })
  if (hive === "explorer" && !caller.explorer) {
    throw new Fault("explorer_required", { detail: "This call needs Explorer." })
  }
  if (hive === "pack" && !caller.explorer && !caller.hasPack) {
    throw new Fault("explorer_required", { detail: "This call needs Explorer or a credit pack." })
  }
}

const PLAN_NAMES: Record<Plan, string> = { free: "Free", pro: "Pro", studio: "Studio", enterprise: "Enterprise" }
