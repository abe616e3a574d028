import { describe, expect, test } from "bun:test"
import type { Caller } from "../../src/access/caller.ts"
import { entitlementsOf, PLANS, type Plan } from "../../src/access/plans.ts"
import { checkRights, type Requirements } from "../../src/access/rights.ts"
import { SCOPES } from "../../src/access/scopes.ts"
import { Fault } from "../../src/lib/faults.ts"

const caller = (differences: Partial<Caller>): Caller => ({
  workspaceId: 1,
  keyId: 1,
  kind: "live",
  person: null,
  plan: "studio",
  explorer: false,
  hasPack: false,
  boughtPack: false,
  entitlements: entitlementsOf(differences.plan ?? "studio"),
  scopes: SCOPES,
  appList: null,
  credits: { used: 0, limit: 0, remaining: 0, resetsAt: "2024-03-01T00:00:00.000Z" },
  budget: null,
  ...differences,
})

function refusal(differences: Partial<Caller>, surface: "rest" | "tools", needs: Partial<Requirements>): Fault | null {
  try {
    checkRights(caller(differences), surface, { scope: null, plan: "free", ...needs })
    return null
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

test("a call that requires one of the 14 scopes is refused without this scope", () => {
  expect(SCOPES).toHaveLength(14)
  for (const scope of SCOPES) {
    for (const surface of ["rest", "tools"] as const) {
      expect(refusal({ scopes: [scope] }, surface, { scope })).toBeNull()
      const otherScopes = SCOPES.filter((other) => other !== scope)
      expect(refusal({ scopes: otherScopes }, surface, { scope })).toMatchObject({
        code: "scope_required",
        extra: { scope },
      })
    }
  }
})

test("a call that requires no scope accepts a key without scopes", () => {
  expect(refusal({ scopes: [] }, "rest", { scope: null })).toBeNull()
})

describe("plans", () => {
  test("the Free plan includes 500 credits a month, 2 requests a second, 2 apps and 50 keywords", () => {
    expect(entitlementsOf("free")).toEqual({
      credits: 500,
      ratePerSecond: 2,
      liveKeys: 1,
      apps: 2,
      trackedKeywords: 50,
      historyDays: 30,
      reviewDays: 30,
      discovery: 2,
      aiQuestions: 5,
      reviewAi: 3,
      aiWriting: 0,
      aiVisibility: 0,
      spy: 3,
      listingWrites: 1,
      measurements: 5,
    })
  })

  test("the Free plan needs a credit pack for REST calls, but not for tool calls", () => {
    const fault = refusal({ plan: "free", explorer: true }, "rest", {})
    expect(fault?.code).toBe("plan_required")
    expect(fault?.extra.detail).toContain("Pro")
    expect(refusal({ plan: "free", hasPack: true }, "rest", {})).toBeNull()
    expect(refusal({ plan: "free", boughtPack: true }, "rest", {})).toBeNull()
    expect(refusal({ plan: "free" }, "tools", {})).toBeNull()
  })

  test("a call is allowed on its minimum plan and higher plans, and the refusal names the minimum plan", () => {
    const names: Record<Plan, string> = { free: "Free", pro: "Pro", studio: "Studio", enterprise: "Enterprise" }
    PLANS.forEach((needed, leastIndex) => {
      PLANS.forEach((plan, planIndex) => {
        const fault = refusal({ plan, hasPack: true }, "rest", { plan: needed })
        expect(fault?.code).toBe(planIndex >= leastIndex ? undefined : ("plan_required" as never))
        if (fault) expect(fault.extra.detail).toContain(names[needed])
      })
    })
  })
})

test.each([
  ["pack", false, false, "explorer_required"],
  ["pack", false, true, undefined],
  ["pack", true, false, undefined],
  ["explorer", false, false, "explorer_required"],
  ["explorer", false, true, "explorer_required"],
  ["explorer", true, false, undefined],
] as const)(
  "a Hive call that requires %p, with Explorer %p and pack %p, has the error %p",
  (hive, explorer, hasPack, code) => {
    const fault = refusal({ explorer, hasPack }, "rest", { hive })
    expect(fault?.code).toBe(code as never)
    if (code) expect(fault?.extra.detail).toContain("Explorer")
  },
)

test("a call with several problems is refused first for the plan, then for the scope, then for Explorer", () => {
  const needs = { scope: "hive:read", plan: "pro", hive: "explorer" } as const
  expect(refusal({ plan: "free", scopes: [] }, "tools", needs)?.code).toBe("plan_required")
  expect(refusal({ plan: "pro", scopes: [] }, "tools", needs)?.code).toBe("scope_required")
  expect(refusal({ plan: "pro" }, "tools", needs)?.code).toBe("explorer_required")
})
