import { describe, expect, test } from "bun:test"
import * as v from "valibot"
import { createAlertRule } from "../../src/alerts/actions/alert-rules.ts"
import { type Alert, alertRow, sentenceOf, textOf } from "../../src/alerts/alert.ts"
import { AlertFields } from "../../src/alerts/alert-fields.ts"
import { CHANNELS } from "../../src/alerts/delivery/channel-kinds.ts"
import { takes, wants } from "../../src/alerts/rules.ts"
import { FEED_TYPES, RULE_TYPES } from "../../src/alerts/types.ts"
import contract from "../contract/rule-types.json"

const OPTIONS = { dropBy: 5, keywordScope: "tagged", rivalScope: "manual" } as const
const NONE = { dropBy: null, keywordScope: null, rivalScope: null }

function exampleOf(type: (typeof FEED_TYPES)[number], facts: object = type.example): Alert {
  const place = type.name === "weekly" ? { platform: null, storefront: null } : { platform: "ios", storefront: "us" }
  const moment = { day: "2025-11-20", at: new Date("2025-11-20T10:00:00Z") }
  return {
    id: 1,
    appId: "app_tea",
    ...place,
    ...moment,
    type: type.name,
    read: false,
    history: false,
    subject: "",
    facts,
  } as never
}

test("the alert types and the feed's types are the contract's types in the contract's order", () => {
  expect(RULE_TYPES as string[]).toEqual(contract)
  expect(FEED_TYPES.map(({ name }) => name)).toEqual(RULE_TYPES)
})

describe.each(FEED_TYPES.map((type) => [type.name, type] as const))("%s", (name, type) => {
  test("an alert type accepts its example and refuses a missing or an extra fact", () => {
    expect(v.parse(type.facts, type.example)).toEqual(type.example)
    expect(v.is(type.facts, { ...type.example, stranger: 1 })).toBe(false)
    for (const fact of Object.keys(type.example)) {
      const { [fact as never]: _, ...rest } = type.example
      expect([fact, v.is(type.facts, rest)]).toEqual([fact, false])
    }
    const accepting = FEED_TYPES.filter(({ facts }) => v.is(facts, type.example))
    expect(accepting.every(({ facts }) => facts === type.facts)).toBe(true)
  })

  test("an alert type has its own sentence, and its message begins with the day if the alert is older", () => {
    const alert = exampleOf(type)
    expect(sentenceOf(alert)).toMatch(/^[A-Z0-9"].+[^.]$/)
    expect(sentenceOf(alert)).not.toMatch(/undefined|null|NaN|\[object|the app\b|on iOS|'(?!s)/)
    const sameSentence = FEED_TYPES.filter((other) => sentenceOf(exampleOf(other)) === sentenceOf(alert))
    expect(sameSentence.map((candidate) => candidate.name)).toEqual([name])
    expect(textOf(alert, "2025-11-20")).toStartWith(type.text ? "Week" : sentenceOf(alert))
    expect(textOf(alert, "2025-11-24")).toStartWith(type.text ? "Week" : `2025-11-20: ${sentenceOf(alert)}`)
  })

  test("an alert type sets its own fields of the feed, and all other fields are null", () => {
    const row = alertRow(exampleOf(type), "Tea") as unknown as Record<string, unknown>
    const fields = Object.fromEntries(Object.keys(AlertFields.entries).map((field) => [field, row[field]]))
    expect(v.parse(AlertFields, fields)).toEqual(fields as never)
    const filled = Object.keys(fields).filter((field) => fields[field] !== null)
    expect(filled.length).toBeGreaterThan(0)
    expect(filled.filter((field) => !(field in type.fields(type.example)))).toEqual([])
  })

  test("an alert matches the rule of its own type without options and no other", () => {
    const rules = RULE_TYPES.map((ruleType) => ({ type: ruleType, channels: [...CHANNELS], ...NONE }))
    expect(rules.filter((rule) => wants(rule, exampleOf(type), null)).map((rule) => rule.type)).toEqual([name])
  })
})

describe.each(RULE_TYPES)("a rule of %s", (type) => {
  test("a rule accepts the options of its type and refuses the others by name", () => {
    for (const [option, value] of Object.entries(OPTIONS)) {
      const refine = () => createAlertRule.refine!({ type, [option]: value } as never)
      if (takes(type, option as never)) expect(refine()).toEqual({ type, [option]: value } as never)
      else
        expect(refine).toThrow(
          expect.objectContaining({
            code: "invalid_arguments",
            extra: { field: option, detail: `A rule for ${type} has no option ${option}. Omit it.` },
          }),
        )
    }
  })
})

test("options of a rule exclude smaller falls, keywords without a tag and found rivals", () => {
  for (const type of FEED_TYPES) {
    const small = exampleOf(type, { ...type.example, rank: 7, was: 3, manual: false })
    for (const option of type.options) {
      const rule = { type: type.name, channels: [], ...NONE, [option]: OPTIONS[option] }
      expect([type.name, option, wants(rule, small, {})]).toEqual([type.name, option, false])
    }
  }
})
