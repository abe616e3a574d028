// The calls to the worlds of years-world.ts.
import type { Caller } from "../../src/access/caller.ts"
import type { Context, Operation } from "../../src/core/operation.ts"
import type { Sql } from "../../src/database/types.ts"
import { contextOf } from "../measuring/record/measured.ts"
import { NOW } from "./years-fill.ts"

export function isReadOfApp({ id, effect, group, path, faults }: Operation): boolean {
  // only a language model can answer these; and in a world of a week, no change has weeks before and after it
  const isRead =
    id !== "get_change_impact" && effect !== "previews" && effect !== "writes" && !faults.includes("ai_not_configured")
  return isRead && GROUPS.includes(group) && !path.includes(":jobId")
}

const OF_OWNERS = "Revenue and ads"
const GROUPS = ["Your apps", "Account", OF_OWNERS]

/** Returns which of the world's apps a call reads: the first, or those with accounts. */
export function appsToRead(
  { group }: Operation,
  apps: number,
  { appCount, owners }: { appCount: number; owners: number },
): number[] {
  const [from, count] = group === OF_OWNERS ? [apps - owners, owners] : [0, appCount]
  return Array.from({ length: count }, (_, at) => from + at)
}

export function inputOf({ id, input }: Operation, appId: string, rivalId: string): Record<string, unknown> {
  if (id === "fetch") return { id: `app:${appId}` }
  return {
    ...SAMPLES[id],
    ...(Object.hasOwn(input.entries, "appId") && { appId }),
    ...(Object.hasOwn(input.entries, "rivalId") && { rivalId }),
  }
}

export function contextIn(sql: Sql, workspace: number): Context {
  const ctx = contextOf(sql, workspace, NOW)
  const caller = {
    ...ctx.caller,
    // no list may be locked by an allowance, because a locked list is not read
    entitlements: { ...ctx.caller.entitlements, spy: 1_000 },
    kind: "live",
    explorer: false,
    scopes: ["apps:read", "reviews:read", "revenue:read", "ads:read"],
  } as unknown as Caller
  return { ...ctx, caller }
}

/** Inputs of calls besides ids. */
const SAMPLES: Record<string, Record<string, unknown>> = {
  search: { q: "app" },
  validate_listing: {
    name: "App: keyword planner",
    subtitle: "Plan the best keywords",
    keywords: "keyword,7,20,planner,free,app store,ranks",
    promotionalText: "Now with more keywords.",
    description: "Finds keywords and ranks, and tells what the words of a listing are worth.",
  },
}
