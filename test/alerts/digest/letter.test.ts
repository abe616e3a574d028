import { describe, expect, test } from "bun:test"
import { digestLetter } from "../../../src/alerts/digest/digest-letter.ts"
import type { Ask, Digest, DigestReview } from "../../../src/alerts/digest/read-digest.ts"
import { readDigest } from "../../../src/alerts/digest/read-digest.ts"
import { plainText } from "../../../src/ui/mail/foreign.ts"
import { writeLetter } from "../../../src/ui/mail/letter.ts"

const PUBLIC = "https://ranks.example.com"
const FRAME = {
  every: "day",
  from: "2025-11-19",
  to: "2025-11-19",
  workspace: "Acme",
  publicUrl: PUBLIC,
  unsubscribeUrl: `${PUBLIC}/unsubscribe/x`,
} as const
const NOTHING: Digest = { apps: [], moves: [], changes: [], reviews: [], money: null, tasks: [], appsLeft: 0 }

const review = (text: string, overrides: Partial<DigestReview> = {}): DigestReview => ({
  id: "1",
  rating: 1,
  title: null,
  text,
  version: null,
  date: "2025-11-19T08:00:00.000Z",
  seenAt: "2025-11-19T09:00:00.000Z",
  country: "us",
  platform: "ios",
  app: "Tea",
  ...overrides,
})

const writeMail = (digest: Partial<Digest>) => writeLetter(digestLetter({ ...NOTHING, ...digest }, FRAME))
const hrefs = (html: string) => [...html.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, url]) => url)
const OURS = [`${PUBLIC}/app`, `${PUBLIC}/unsubscribe/x`]

/** Texts that mail programs turn into links: addresses with a scheme, domains and mail addresses. */
const LINKED = /https?:\/\/|\bwww\.\w|[\w-]+\.(?:com|example|org|net|io)\b|\w@\w|javascript:\w|tel:\w|mailto:\w/i

describe("foreign text in a mail", () => {
  test.each([
    ["<script>alert(1)</script><img src=x onerror=alert(1)>"],
    ["javascript:alert(1)"],
    ["Win at https://evil.example/path?x=1 or www.evil.com or evil.io/now"],
    ["write to eve@evil.com or mailto:eve@evil.com or tel:+4912345"],
    ['"><a href="https://evil.example">click</a>'],
    ["\u202Egnp.exe\u202C and \u2066isolated\u2069"],
    ["]]><!--[if mso]> {{7*7}} <%= 7 %> %0d%0aBcc: x"],
  ])("%j is shown literally and not as a link", (text) => {
    const mail = writeMail({ reviews: [review(text, { app: text, title: text })] })
    expect(hrefs(mail.html)).toEqual(OURS)
    expect(mail.html).not.toMatch(/<script|<img|onerror=alert\(1\)>|<a href="https:\/\/evil/)
    const visible = mail.html.replaceAll(/<[^>]*>/g, " ")
    for (const found of [visible, mail.text]) {
      const rest = found.replaceAll(/https:\/\/ranks\.example\.com\/\S*/g, "")
      expect(LINKED.exec(rest)?.[0]).toBeUndefined()
      expect(rest).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
    }
  })

  test("a foreign text of 10,000 characters is cut, and the mail stays well-formed Unicode", () => {
    const mail = writeMail({ reviews: [review("a".repeat(10_000)), review("💚".repeat(5_000)), review("\ud83d")] })
    expect(mail.text).toContain(`${"a".repeat(298)}`)
    expect(mail.text).not.toContain("a".repeat(400))
    expect(mail.text.isWellFormed() && mail.html.isWellFormed()).toBe(true)
  })

  test("figures, times and versions in a foreign text stay readable", () => {
    expect(plainText("4.6 stars at 08:00, 1,204 ratings, 3 / 4")).toBe("4.6 stars at 08:00, 1,204 ratings, 3 / 4")
    expect(plainText("a\r\nb\tc\u2028d")).toBe("a b c d")
  })
})

describe("a digest", () => {
  test("a digest of thousands of findings stays below the size limit and counts omitted findings", () => {
    const apps = Array.from({ length: 20 }, (_, at) => ({
      name: `${at}${"x".repeat(400)}`,
      up: at,
      down: 0,
      reviews: 1,
    }))
    const many = Array.from({ length: 5_000 }, () => "y".repeat(900))
    const mail = writeMail({
      apps,
      appsLeft: 180,
      reviews: many.map((text) => review(text)),
      changes: many.map((text) => ({ text, day: "2025-11-19" })),
      money: { about: "Proceeds.", rows: apps.map(({ name }) => ({ app: name, amounts: [] })) },
    })
    expect(new TextEncoder().encode(mail.html).length).toBeLessThan(102_000)
    expect(mail.text).toContain("And 180 more apps on the page.")
    expect(mail.text).toContain("And 4,994 more reviews on the page.")
    expect(mail.text).toContain("and 4,992 more")
  })

  test("a digest shows an unknown figure as a dash and money in its own currency", () => {
    const { text } = writeMail({
      apps: [{ name: "Tea", up: null, down: 0, reviews: null }],
      money: {
        about: "Proceeds of 2025-11-19.",
        rows: [{ app: "Tea", amounts: [{ amount: "12.50", currency: "EUR" }] }],
      },
    })
    expect(text).toContain("* Tea: rose –, fell 0, reviews –")
    expect(text).toContain("* Tea: proceeds €12.50")
  })

  test("a digest omits revenue if the person may not see revenue or if no account is connected", async () => {
    const figures = { name: "Tea", appId: "app_1", keywordsUp: 1, keywordsDown: 0, newReviews: 0, keywordsMeasured: 1 }
    const answerCall = (hiddenMoney: boolean, connected: boolean) =>
      (async (id: string) => {
        const answers: Record<string, unknown> = {
          list_app_heads: { apps: [] },
          list_alerts: { alerts: [] },
          get_portfolio_overview: {
            apps: [{ ...figures, subscriptionRevenue: hiddenMoney ? null : 7 }],
            conns: [{ id: "subscriptions", connected, gives: [] }],
            hiddenMoney,
          },
        }
        return answers[id]
      }) as unknown as Ask
    const period = { from: "2025-11-19", to: "2025-11-19", at: new Date() }
    const moneyOf = async (...args: [boolean, boolean]) => (await readDigest(answerCall(...args), "day", period))?.money
    expect(await moneyOf(true, true)).toBeNull()
    expect(await moneyOf(false, false)).toBeNull()
    expect(await moneyOf(false, true)).toEqual({
      about: "Proceeds of 2025-11-19.",
      rows: [{ app: "Tea", amounts: [{ amount: 7, currency: "USD" }] }],
    })
  })

  test("a digest lists the lowest ratings first, and the newest first among equal ratings", async () => {
    const day = "2025-11-19"
    const reviews = [
      review("good, late", { rating: 4, date: `${day}T20:00:00.000Z` }),
      review("bad, early", { rating: 1, date: `${day}T08:00:00.000Z` }),
      review("good, early", { rating: 4, date: `${day}T08:00:00.000Z` }),
      review("bad, late", { rating: 1, date: `${day}T20:00:00.000Z` }),
    ]
    const answers: Record<string, unknown> = {
      list_app_heads: { apps: [{ id: "app_1", name: "Tea", iosId: "1", androidPkg: null, countries: ["us"] }] },
      list_alerts: { alerts: [] },
      get_portfolio_overview: { apps: [], conns: [], hiddenMoney: false },
      search_reviews: { feed: { feed: "us" }, reviews },
      get_timeline: { changes: [] },
      get_weekly_plan: { tasks: [] },
    }
    const ask = (async (id: string) => answers[id]) as unknown as Ask
    const digest = await readDigest(ask, "day", { from: day, to: day, at: new Date() })
    const listed = ["bad, late", "bad, early", "good, late", "good, early"]
    expect(digest?.reviews.map(({ text }) => text)).toEqual(listed)
  })
})
