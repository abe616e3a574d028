import { expect, test } from "bun:test"
import { type AlertRow, alertItems } from "../../src/alerts/page/alert-list.ts"
import type { AnswerOf } from "../../src/answers.ts"
import { boughtPart, campaignsPart, commandsPart } from "../../src/consoles/page/ads.ts"
import { groupAlerts } from "../../src/lib/alert-groups.ts"
import type { PageContext } from "../../src/ui/app/context.ts"

// every value below is one that the operation's output schema allows

test("a campaign without a reported day is listed with dashes instead of zeros", () => {
  const campaign = { name: "Brand", status: "ENABLED", countries: ["us"], budget: null, metrics: null, share: null }
  const part = campaignsPart({ campaigns: [campaign], from: "2026-01-01", to: "2026-01-28" } as never).text
  expect(part).toContain("Brand")
  expect(part).toContain("–")
  expect(part).not.toContain(">0<")
})

test("an Apple Ads keyword without a match type is listed", () => {
  const metrics = {
    impressions: 10,
    taps: 1,
    installs: 0,
    spend: { amount: "1.00", currency: "USD" },
    ttr: 0.1,
    cpi: null,
  }
  const keyword = { text: "tides", match: null, bid: null, metrics, organic: null }
  expect(boughtPart({ keywords: [keyword], from: "2026-01-01", to: "2026-01-28" } as never).text).toContain("tides")
})

test("a change that the ads platform does not list yet is shown as sent", () => {
  const command = {
    at: "2026-01-02T03:04:05.000Z",
    by: "service",
    event: null,
    entity: "KEYWORD",
    name: "tides",
    changes: [],
  }
  expect(commandsPart({ commands: [command] } as never).text).toContain("Sent, but not in the platform")
})

test("an alert of an app that is no longer tracked has no link", () => {
  const alert = {
    id: 1,
    type: "rank_drop",
    appId: null,
    appName: "Tide Times",
    platform: "ios",
    country: "us",
    day: "2026-01-02",
    read: true,
    sentence: "It fell.",
    term: "tides",
    source: null,
    deliveries: [],
  }
  const [list] = alertItems({ base: "/app" } as PageContext, groupAlerts([alert as unknown as AlertRow])).map(
    ({ text }) => text,
  )
  expect(list).toContain("Tide Times")
  expect(list).not.toContain("href")
})

test("a page that uses an unknown field, operation or input of an answer does not compile", () => {
  const rivals = { day: null, rivals: [], omitted: 0 } as unknown as AnswerOf<"list_rivals">
  // @ts-expect-error: list_rivals has no such field
  expect(rivals.theirRivals).toBeUndefined()
  const context = { ask: () => rivals } as unknown as PageContext
  // @ts-expect-error: there is no such operation
  expect<unknown>(context.ask("list_rivalz")).toBe(rivals)
  // @ts-expect-error: list_rivals has no such input
  expect<unknown>(context.ask("list_rivals", { application: "x" })).toBe(rivals)
})
