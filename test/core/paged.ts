import type { Caller } from "../../src/access/caller.ts"
import { ENTITLEMENTS, type Plan } from "../../src/access/plans.ts"
import type { Context } from "../../src/core/operation.ts"
import type { Sql } from "../../src/database/types.ts"
import type { Observation } from "../../src/kinds.ts"
import { appleAppPage } from "../../src/listings/sources/apple-app-page.ts"
import { listed } from "../measuring/record/listed.ts"
import { contextOf } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { fixture } from "../stores/parsing/parsed.ts"
import { trackOwn } from "../world/tracked.ts"

/** The time at which tests of pages make their calls. */
export const TODAY = new Date("2026-06-20T12:00:00Z")
export const june = (n: number, hour = 6) => new Date(Date.UTC(2026, 5, n, hour))

export const IOS_ID = "1600000101"
export const PACKAGE = "com.example.tea"

/** Tracks the app of `listed`, in the US and Germany by default. */
export function trackTea(sql: Sql, workspaceId: number, rest: object = {}): Promise<string> {
  const input = { workspaceId, iosId: IOS_ID, countries: ["us", "de"], keywords: ["tea", "mate"], origin: "own" }
  return trackOwn(sql, { ...input, ...rest })
}

export async function recordAll(sql: Sql, ...pages: Observation[]): Promise<void> {
  const { refused } = await record(sql, pages, () => new Date("2026-12-31T00:00:00Z"))
  if (refused.length > 0) throw refused[0]?.problem
}

/** Returns a Google Play page of the app. */
export function played(seenAt: Date, listing: Parameters<typeof listed>[1] = {}) {
  const shelves = { similar: [{ id: "com.example.coffee" }], moreByDeveloper: undefined }
  const parts = { ...shelves, events: undefined, editorial: undefined, ...listing } as typeof listing
  return listed(seenAt, parts, { source: "play-details", platform: "android", id: PACKAGE })
}

/** Returns a recorded page, parsed by its source. */
export function recorded(storefront: string, id: string, seenAt: Date) {
  const provenance = { seenAt, sha256: new Uint8Array(32).fill(seenAt.getUTCDate()) }
  return appleAppPage.parse(fixture(`apple-app-page-${storefront}.html`), { storefront, id }, provenance)
}

export function contextOn(sql: Sql, workspaceId: number, { plan = "pro" as Plan, now = TODAY } = {}): Context {
  const ctx = contextOf(sql, workspaceId, now)
  return { ...ctx, caller: { ...ctx.caller, plan, entitlements: ENTITLEMENTS[plan] } as Caller }
}
