import { describe, expect, test } from "bun:test"
import { actions, catalog } from "../../src/catalog.ts"
import type { Action } from "../../src/core/action.ts"
import { checkInput } from "../../src/core/check-input.ts"
import type { Operation } from "../../src/core/operation.ts"
import { Fault } from "../../src/lib/faults.ts"
import rows from "../contract/actions.json"
import { type ContractParameter, probes } from "../probes.ts"
import { expectSnapshot, readSnapshot } from "../snapshot.ts"

const contract = rows as unknown as Row[]
const previewAction = catalog.find(({ id }) => id === "preview_action") as Operation

/** Valid arguments for each action. */
const SAMPLES: Record<string, Record<string, unknown>> = {
  add_app: { iosId: "389801252", androidPkg: "com.example.kettle" },
  add_keywords: { appId: "app_kettle", keywords: ["tea"] },
  remove_keywords: { appId: "app_kettle", keywords: ["tea"] },
  add_rivals: { appId: "app_kettle", rivals: ["ios:389801252"] },
  remove_rivals: { appId: "app_kettle", rivals: ["ios:389801252"] },
  mark_alerts_read: {},
  create_alert_rule: { type: "rank_drop" },
  delete_alert_rule: { type: "rank_drop" },
  create_share_link: { appId: "app_kettle", country: "us" },
  export_data: { appId: "app_kettle", dataset: "history" },
  reply_review: { appId: "app_kettle", reviewId: "9990000731", response: "Thank you." },
  pause_campaign: { appId: "app_kettle", campaignId: "1" },
  resume_campaign: { appId: "app_kettle", campaignId: "1" },
  set_daily_budget: { appId: "app_kettle", campaignId: "1", amount: 20 },
  set_keyword_bid: { appId: "app_kettle", campaignId: "1", keywordId: "2", amount: 1.5 },
  pause_keyword: { appId: "app_kettle", campaignId: "1", keywordId: "2" },
  resume_keyword: { appId: "app_kettle", campaignId: "1", keywordId: "2" },
  add_negative_keyword: { appId: "app_kettle", campaignId: "1", text: "free" },
  add_exact_keyword: { appId: "app_kettle", campaignId: "1", adGroupId: "3", text: "tide" },
  update_listing: { appId: "app_kettle", locale: "en-US", fields: { subtitle: "Tea" } },
}

/** Further arguments that an argument needs, because some options exist only for some types of rules. */
const WITH: Record<string, Record<string, unknown>> = {
  rivalScope: { type: "rival_passed" },
  open: { fields: { name: "Kettle" } },
}

/** Valid values for arguments whose schema is narrower than the contract's type. */
const SHAPED: Record<string, unknown[]> = {
  iosId: ["12345", "389801252"],
  androidPkg: ["com.example.kettle"],
  name: ["Kettle", "x".repeat(100)],
  countries: [["us"], ["US", "de"]],
  appId: ["app_kettle"],
  keywords: [["tea"], ["Tea ", "coffee"]],
  rivals: [["ios:389801252", "android:com.example.kettle"]],
  until: ["2024-02-29", "2025-11-01T10:00:00Z", "2025-11-01T10:00:00.123+03:00"],
  read: [],
  type: [],
  channels: [[], ["slack", "webhook"]],
  dropBy: [],
  keywordScope: [],
  rivalScope: [],
  days: [1, 30],
  password: ["x", "😀".repeat(128)],
  dataset: ["history", "reviews"],
  country: ["us", "DE"],
  platform: ["ios", "android"],
  format: ["csv", "json"],
  from: ["2025-02-28"],
  to: ["2025-02-28"],
  reviewId: [],
  response: [],
  locale: ["en-US", "zh-Hans"],
  fields: [{ name: "Kettle", keywords: null, supportUrl: "https://example.com/help" }],
  open: [],
  campaignId: ["444555666"],
  keywordId: ["1"],
  adGroupId: ["1"],
  amount: [0.01, 20],
  currency: ["EUR", "usd"],
  text: ["free tea"],
  matchType: [],
}

describe("the actions", () => {
  test("the actions are in the contract's order, and the list of unimplemented actions only shrinks", () => {
    const built = new Set(actions.map(({ name }) => name))
    const named = contract.map(({ action }) => action)
    expect(named).toHaveLength(20)
    expect([...built]).toEqual(named.filter((name) => built.has(name)))
    const missing = named.filter((name) => !built.has(name))
    const before = new Set(readSnapshot<string[]>("actions-not-built.json"))
    expect(missing.filter((name) => !before.has(name))).toEqual([])
    expectSnapshot("actions-not-built.json", missing)
  })

  test("an action that is not implemented is unknown, like any other name", () => {
    for (const { action } of contract.filter(({ action }) => !actions.some(({ name }) => name === action)))
      expect(outcome({ action, args: {} })).toBe("unknown_action")
    for (const action of ["", "ADD_APP", "__proto__", 7, undefined])
      expect(outcome({ action, args: {} })).toBe("unknown_action")
    for (const args of ["text", [1], null]) expect(outcome({ action: "add_app", args })).toBe("invalid_arguments")
  })

  for (const action of actions) {
    const row = contract.find((row) => row.action === action.name) as Row

    test(`${action.name} has the contract's scope, credits, plan, flags and arguments`, () => {
      const { scope, credits, plan, destructive, args } = action
      expect({ scope, credits, plan, destructive, args: Object.keys(args.entries) }).toEqual({
        scope: row.scope,
        credits: row.credits,
        plan: row.plan,
        destructive: row.flags.includes("destructive"),
        args: row.args.map(({ name }) => name),
      })
    })

    for (const parameter of row.args) {
      test(`${action.name}: ${parameter.name} accepts what the contract allows and refuses everything else`, () => {
        const { good, bad, absent } = probes(parameter)
        const { name } = parameter
        expect(bad.length).toBeGreaterThan(0)
        const accepted = [...good, ...(SHAPED[name] as unknown[])]
        for (const value of accepted) expect([value, withArgument(action, name, value)]).toEqual([value, "taken"])
        for (const value of bad) expect([value, withArgument(action, name, value)]).toEqual([value, parameter.code])
        expect(withArgument(action, name, undefined)).toBe(absent === "refused" ? parameter.code : "taken")
        if (absent !== "refused" && absent.default !== undefined)
          expect(checked({ action: action.name, args: argsWith(action, name, undefined) }).args).toMatchObject({
            [name]: absent.default,
          })
      })
    }
  }
})

interface Row {
  action: string
  scope: Action["scope"]
  credits: number
  plan: Action["plan"]
  flags: string[]
  args: ContractParameter[]
}

const checked = (input: Record<string, unknown>) =>
  checkInput(previewAction, input) as { args: Record<string, unknown> }

function argsWith({ name }: Action, argument: string, value: unknown): Record<string, unknown> {
  const { [argument]: _, ...rest } = { ...SAMPLES[name], ...WITH[argument] } as Record<string, unknown>
  return value === undefined ? rest : { ...rest, [argument]: value }
}

function withArgument(action: Action, argument: string, value: unknown): string {
  return outcome({ action: action.name, args: argsWith(action, argument, value) })
}

function outcome(input: Record<string, unknown>): string {
  try {
    checked(input)
    return "taken"
  } catch (error) {
    if (error instanceof Fault) return error.code
    throw error
  }
}
