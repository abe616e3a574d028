import { describe, expect, test } from "bun:test"
import { movementsAround, spanOf, type TermMonths } from "../../src/keywords/formulas/timeline.ts"
import { addDays, monthOf } from "../../src/lib/days.ts"
import { UNMEASURED } from "../../src/lib/month-bytes.ts"
import {
  type Answer,
  answer,
  app,
  audit,
  daysOf,
  featuring,
  found,
  history,
  page,
  plan,
  rival,
  TODAY,
  timeline,
  today,
} from "./sandbox-answers.ts"

describe("the store page", () => {
  const onIos = page.timeline.filter(({ platform }: Answer) => platform === "ios")

  test("the store page changed as the timeline shows, including today", () => {
    const expected = timeline.changes.map(({ kind, at, notYetAt, subjectId, before, after }: Answer) => {
      return { kind, at, notYetAt, subjectId, before, after }
    })
    const words = ["name", "subtitle", "description", "promotional_text", "icon", "price"]
    expect(onIos.filter(({ kind }: Answer) => !words.includes(kind))).toMatchObject(expected)
    expect(page.timeline.map(({ at }: Answer) => at)).toEqual(
      page.timeline
        .map(({ at }: Answer) => at)
        .sort()
        .reverse(),
    )
    for (const { at, day } of page.timeline) expect(at.slice(0, 10)).toBe(day)
    expect(today.changes).toMatchObject(
      page.timeline
        .filter(({ day }: Answer) => day === TODAY)
        .map(({ kind, at, after }: Answer) => ({ kind, at, after })),
    )
    expect(onIos.find(({ kind }: Answer) => kind === "version").after).toBe(page.ios.version)
  })

  test("keyword moves around each change of the page match the rank history", () => {
    const terms = history.keywords.map(({ term }: Answer) => monthsOf(term))
    for (const change of timeline.changes) {
      const span = spanOf({ day: change.day, beforeDay: change.notYetAt.slice(0, 10) }, timeline.window)
      const { biggest, ...counts } = movementsAround(terms, span)
      expect([change.kind, change.day, change]).toMatchObject([change.kind, change.day, counts])
      expect(change.biggest).toMatchObject(biggest.map(({ source: _, ...move }) => move))
      expect(change.windowTo).toBe(addDays(change.day, timeline.window))
    }
  })

  test("prices match the page, and payments match the prices of products that the console sold", () => {
    const pricing = answer("get_pricing")
    const listedPrices = new Map(pricing.listed.map((row: Answer) => [`${row.product} ${row.country}`, row.price]))
    const pagePrices = new Map(page.ios.listingExtras.inAppPurchases.map(({ name, price }: Answer) => [name, price]))
    for (const { name, country, price } of pricing.listed)
      if (country === "us") expect([name, pagePrices.get(name)]).toEqual([name, `$${price.amount}`])
    const costs = answer("get_country_prices")
    for (const { product, country, from, price, proceeds } of pricing.listed) {
      if (product !== costs.product.sku) continue
      const listed = costs.countries.find((row: Answer) => row.country === country)
      const written = [from, price.amount, price.currency, proceeds]
      expect([listed.startsAt, listed.price, listed.currency, listed.proceeds]).toEqual(written)
    }
    const sold = answer("get_revenue").products.map(({ product }: Answer) => product)
    for (const { product, country, prices, ...counts } of pricing.paid) {
      expect(sold).toContain(product)
      expect(prices[0].price).toEqual(listedPrices.get(`${product} ${country}`))
      expect(prices[0].sales).toBe(counts.paidStarts + counts.trialConversions + counts.renewals + counts.oneTime)
      expect(Number(prices[0].revenue)).toBeCloseTo(
        Number(prices[0].price.amount) * (prices[0].sales - counts.refunds),
        6,
      )
    }
    const counted = pricing.paid.flatMap(
      ({ product: _, country: __, countryIs: ___, prices: ____, ...counts }: Answer) => Object.values(counts),
    )
    expect(counted.reduce((sum: number, count: unknown) => sum + (count as number), 0)).toBe(pricing.sources[0].events)
  })

  test("the change impact is about the latest change of price, texts or pictures, and lists changes near it", () => {
    const impact = answer("get_change_impact")
    const texts = ["price", "name", "subtitle", "screenshots", "icon", "promotional_text", "description"]
    const latest = onIos.find(({ kind }: Answer) => texts.includes(kind))
    expect([impact.day, impact.at, impact.notYetAt]).toEqual([latest.day, latest.at, latest.notYetAt])
    expect(impact.changed).toEqual([{ kind: latest.kind, countries: ["us"] }])
    const near = onIos.filter(({ day, kind }: Answer) => {
      return (
        day >= addDays(impact.day, -impact.window) && day <= addDays(impact.day, impact.window) && kind !== latest.kind
      )
    })
    expect(impact.overlaps.map(({ kind, day }: Answer) => [kind, day])).toEqual(
      near.map(({ kind, day }: Answer) => [kind, day]),
    )
    expect([impact.verdict, impact.sources[0].id]).toEqual(["confounded", answer("get_revenue").sources[0].id])
    const ranks = impact.outcomes.find(({ outcome }: Answer) => outcome === "ranks")
    expect(history.keywords.map(({ term }: Answer) => term)).toContain(ranks.treated[0])
  })

  test("the plan waits 14 days after a change of name or subtitle, and begins with the current texts", () => {
    const changed = onIos.find(({ kind }: Answer) => kind === "name" || kind === "subtitle")
    const [us] = plan.storefronts
    const settledAt = new Date(Date.parse(changed.at) + 14 * 86_400_000).toISOString()
    expect(us).toMatchObject({ country: "us", state: "settling", settledAt, pageReadAt: page.ios.measuredAt })
    expect(plan.goal).toBe(app.goal)
    for (const { country, current, gains, expectedValue } of plan.tasks) {
      expect(current).toBe(audit.rows.find((row: Answer) => row.country === country).subtitle)
      const worth = gains.map(({ weight, expectedRank, rank }: Answer) => {
        return weight * (1 / expectedRank - (rank === null ? 0 : 1 / rank))
      })
      const sum = worth.reduce((total: number, value: number) => total + value, 0)
      expect(expectedValue).toBe(Math.round(sum * 100) / 100)
      for (const { term, rank } of gains) {
        expect(app.keywordsByCountry[country]).toContain(term)
        const move = today.moves.find((row: Answer) => row.term === term && row.country === country)
        if (move) expect([term, move.rank]).toEqual([term, rank])
      }
    }
  })

  test("the store page shows the featuring of its storefront", () => {
    const us = (rows: Answer[], platform?: string) =>
      rows
        .filter((row) => row.country === "us" && (!platform || row.platform === platform))
        .map(({ country: _, platform: __, ...row }) => row)
    expect(us(featuring.editorial)).toEqual(page.ios.editorial)
    expect(us(featuring.events)).toEqual(page.ios.listingExtras.events)
    for (const store of ["ios", "android"]) expect(us(featuring.similar, store)).toEqual(page[store].similar)
    for (const { platform, hasEditorial, hasEvents } of featuring.storefronts)
      if (platform === "android") expect([hasEditorial, hasEvents]).toEqual([null, null])
  })
})

describe("texts", () => {
  const [summary, ideas] = [answer("summarize_reviews"), answer("suggest_keywords")]

  test("each theme of a summary counts its reviews, and its days are within the days of the summary", () => {
    for (const { count, share, firstDay, lastDay, quotes, reviewIds } of summary.themes) {
      expect(new Set(reviewIds).size).toBe(count)
      for (const { reviewId } of quotes) expect(reviewIds).toContain(reviewId)
      expect(share).toBeCloseTo(count / summary.reviews, 4)
      expect([summary.from <= firstDay, firstDay <= lastDay, lastDay <= summary.to]).toEqual([true, true, true])
      expect(quotes.length).toBeLessThanOrEqual(count)
    }
    expect(app.countries).toContain(summary.country)
  })

  test("the evidence of a draft is quoted from the page or from the named review", () => {
    const reviews = new Map(answer("search_reviews").reviews.map((review: { id: string }) => [review.id, review]))
    const row = answer("get_storefront_audit").rows.find(({ country }: { country: string }) => country === "us")
    for (const { kept: current, facts } of answer("draft_listing").fields) {
      expect(facts.length > 0).toBe(current === null)
      for (const { reviewId, quote } of facts)
        expect(reviewId === null ? `${row.appName} ${row.subtitle}` : (reviews.get(reviewId) as Answer).text).toInclude(
          quote,
        )
    }
  })

  test("a translated listing matches the audited page, and names the storefronts that read its language", () => {
    const { source, storefronts, locale, fields } = answer("localize_listing")
    const rows = answer("get_storefront_audit").rows as Answer[]
    const reading = rows.filter(({ state, locales }) => state === "sold" && locales.includes(locale))
    expect(storefronts).toEqual(reading.map(({ country }) => country).sort())
    const { appName, subtitle } = rows.find(({ country }) => country === source.country)
    expect(fields.slice(0, 2).map(({ source }: Answer) => source)).toEqual([appName, subtitle])
    for (const { text, characters } of fields) expect(characters).toBe([...text].length)
  })

  test("the screenshots with recognised text are the first four of the page", () => {
    const shots = answer("get_screenshot_text")
    const { measuredAt, screenshotsPhone } = answer("get_store_page").ios
    expect([shots.pageReadAt, shots.screenshots.map(({ address }: Answer) => address)]).toEqual([
      measuredAt,
      screenshotsPhone.slice(0, 4),
    ])
    for (const { caption, lines } of shots.screenshots)
      expect(caption).toBe(lines === null ? null : lines.map(({ text }: Answer) => text).join("\n"))
  })

  test("a reply refers to the text of its review", () => {
    const draft = answer("draft_review_reply")
    const review = found.reviews.find(({ id }: Answer) => id === draft.reviewId)
    for (const quote of draft.addresses) expect(review.text).toInclude(quote)
    expect(draft.characters).toBe(draft.reply.length)
  })

  test("keyword ideas are neither tracked nor dismissed, and their ranks match other answers", () => {
    const rivalRanks = new Map(rival.keywords.map(({ term, rank, ourRank }: Answer) => [term, { rank, ourRank }]))
    for (const { term, measured, rank, evidence } of ideas.ideas) {
      expect([...app.keywords, ...app.buriedKeywords]).not.toContain(term)
      if (!measured) continue
      const ranksOfTerm = rivalRanks.get(term) as { rank: number; ourRank: number | null }
      expect(rank).toBe(ranksOfTerm.ourRank)
      expect(evidence.find(({ kind }: Answer) => kind === "rival").rank).toBe(ranksOfTerm.rank)
    }
  })
})

/** Returns a keyword's history in the byte format of stored months. */
function monthsOf(term: string): TermMonths {
  const byMonth = Map.groupBy(daysOf(term), ({ day }) => monthOf(day))
  const months = [...byMonth].map(([month, points]) => {
    const bytes = {
      ranks: new Uint8Array(31).fill(UNMEASURED),
      sources: new Uint8Array(31),
      depths: new Uint8Array(31),
    }
    for (const { day, rank, depth } of points) {
      const place = Number(day.slice(8)) - 1
      bytes.ranks[place] = rank ?? 0
      bytes.depths[place] = depth
    }
    return [month, bytes] as const
  })
  return { term, months: new Map(months) }
}
