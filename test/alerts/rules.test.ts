import { describe, expect, test } from "bun:test"
import type { Alert, FactsOf, FindingType } from "../../src/alerts/alert.ts"
import { type AlertRule, takes, wants } from "../../src/alerts/rules.ts"
import { RANK_PLACES } from "../../src/alerts/search-days.ts"
import { FEED_TYPES, RULE_TYPES } from "../../src/alerts/types.ts"
import types from "../contract/rule-types.json"

const FINDINGS = FEED_TYPES.filter(({ find }) => find).map(({ name }) => name) as FindingType[]
const compared = { source: "import", against: "2025-11-19", depth: 200, wasDepth: 200 }
const rival = { rival: "9990000104", name: "Moodleaf", manual: false }
const ranks = { term: "tea", rank: 12, was: 3, ...compared }
const passing = { ...rival, term: "tea", ours: 4, theirs: 3, oursWas: 3, theirsWas: 5, ...compared }
const chart = { device: "ipad", chart: "free", genre: "6015", genreName: null, rank: 75, was: 40, ...compared } as const
const provenance = { source: "apple-app-page", beforeSeenAt: "2025-11-19T10:00:00.000Z" }

const FACTS: FactsOf = {
  dropped_out: { ...ranks, rank: null },
  rank_drop: ranks,
  rank_rise: { ...ranks, rank: 3, was: 12 },
  entered: { ...ranks, was: null },
  rival_passed: passing,
  rival_beaten: { ...passing, ours: 3, theirs: 4 },
  rival_event: { ...rival, ...provenance, change: "version", before: "4.0", after: "4.1" },
  chart_drop: chart,
  chart_enter: { ...chart, rank: 40, was: 130 },
  featured: { ...provenance, card: "story", id: "1", title: null },
  review_wave: { feed: "us", count: 9, mean: 0.5, days: 28 },
  ai_mention_lost: {
    ...({ term: "tea", assistant: "openai", model: "m-1", against: "2025-11-12" } as const),
    now: { named: 0, of: 6 },
    before: { named: 6, of: 6 },
  },
  off_topic: { term: "tea", genre: "6015", genreName: null, genres: [], source: "import", against: null },
  asa_rule: {
    ads: { account: "ac_1", campaign: "1", campaignName: null, count: 1, from: "2025-11-20T06:00:00.000Z", shown: [] },
    ids: ["Keyword.81.1"],
  },
}

function alert<Type extends FindingType>(type: Type, facts: Partial<FactsOf[Type]> = {}): Alert {
  const place = {
    id: 1,
    appId: "app_tea",
    platform: "ios",
    storefront: "us",
    read: false,
    history: false,
    subject: "tea",
  }
  const moment = { day: "2025-11-20", at: new Date("2025-11-20T10:00:00Z") }
  return { ...place, ...moment, type, facts: { ...FACTS[type], ...facts } } as Alert
}

function rule(type: AlertRule["type"], rest: Partial<AlertRule> = {}): AlertRule {
  return { type, channels: ["slack"], dropBy: null, keywordScope: null, rivalScope: null, ...rest }
}

const KEYWORDS = ["dropped_out", "rank_drop", "rank_rise", "entered", "rival_passed", "rival_beaten", "off_topic"]
const RIVALS = ["rival_passed", "rival_beaten", "rival_event"]

describe("a rule", () => {
  test("the types of rules equal the contract's types and include every alert type of the feed", () => {
    expect([...RULE_TYPES]).toEqual(types as never)
    expect(FINDINGS.filter((type) => !RULE_TYPES.includes(type))).toEqual([])
  })

  test("a rule without options matches every alert of its own type and no other", () => {
    for (const type of RULE_TYPES)
      expect([type, FINDINGS.filter((finding) => wants(rule(type), alert(finding), null))]).toEqual([
        type,
        FINDINGS.filter((finding) => finding === type),
      ])
  })

  test.each([
    [3, 12, 3, true],
    [3, 12, 9, true],
    [3, 12, 10, false],
    [10, 59, 50, false],
    [10, 60, 50, true],
  ])("for a fall from %p to %p, a rule with dropBy %p matches: %p", (was, rank, dropBy, expected) => {
    expect(wants(rule("rank_drop", { dropBy }), alert("rank_drop", { was, rank }), null)).toBe(expected)
  })

  test("a rule can match the smallest fall that the feed contains", () => {
    const smallest = alert("rank_drop", { was: 3, rank: 3 + RANK_PLACES })
    expect(wants(rule("rank_drop", { dropBy: 3 }), smallest, null)).toBe(true)
  })

  test("a rule for tagged keywords matches only alerts about keywords with a tag", () => {
    for (const type of FINDINGS.filter((type) => KEYWORDS.includes(type))) {
      const wantsTagged = (tags: Record<string, string[]> | null, term = "tea") =>
        wants(rule(type, { keywordScope: "tagged" }), alert(type, { term } as never), tags)
      expect([type, wantsTagged({ tea: ["core"], mate: ["core"] }), wantsTagged({ tea: ["core"] }, "mate")]).toEqual([
        type,
        true,
        false,
      ])
      expect([wantsTagged(null), wantsTagged({}), wantsTagged({ tea: [] }), wantsTagged({}, "constructor")]).toEqual(
        Array(4).fill(false),
      )
      expect(wants(rule(type, { keywordScope: "all" }), alert(type), null)).toBe(true)
    }
  })

  test("a rule for rivals added by hand matches only alerts about rivals added by hand", () => {
    for (const type of FINDINGS.filter((type) => RIVALS.includes(type))) {
      const wantsNamed = (manual: boolean, rivalScope: "all" | "manual") =>
        wants(rule(type, { rivalScope }), alert(type, { manual } as never), null)
      const results = [
        wantsNamed(true, "manual"),
        wantsNamed(false, "manual"),
        wantsNamed(true, "all"),
        wantsNamed(false, "all"),
      ]
      expect([type, ...results]).toEqual([type, true, false, true, true])
    }
  })

  test("a rule with two scopes matches only alerts that both allow", () => {
    const narrow = rule("rival_passed", { keywordScope: "tagged", rivalScope: "manual" })
    const tags = { tea: ["core"] }
    const passingAlert = (manual: boolean) => alert("rival_passed", { manual })
    expect([
      wants(narrow, passingAlert(true), tags),
      wants(narrow, passingAlert(false), tags),
      wants(narrow, passingAlert(true), null),
    ]).toEqual([true, false, false])
  })
})

test("a rule accepts an option if the alerts of its type have the value that the option concerns", () => {
  for (const type of FINDINGS) {
    const facts = FACTS[type]
    expect([type, takes(type, "keywordScope")]).toEqual([type, "term" in facts])
    expect([type, takes(type, "rivalScope")]).toEqual([type, "manual" in facts])
    expect([type, takes(type, "dropBy")]).toEqual([type, type === "rank_drop"])
  }
  const otherTypes = RULE_TYPES.filter((type) => !FINDINGS.some((finding) => finding === type))
  expect(otherTypes.map((type) => [type, takes(type, "keywordScope"), takes(type, "rivalScope")])).toEqual([
    ["asa_rule", false, false],
    ["weekly", false, false],
  ])
})
