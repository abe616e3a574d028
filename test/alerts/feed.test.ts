import { beforeEach, describe, expect, test } from "bun:test"
import { SCOPES } from "../../src/access/scopes.ts"
import { type Alert, type FactsOf, type FindingType, sentenceOf, textOf } from "../../src/alerts/alert.ts"
import { readFeed, UNREAD_COUNTED } from "../../src/alerts/feed.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { long } from "../long.ts"
import { newWorkspace } from "../measuring/record/measured.ts"
import { trackNew } from "./derived-alerts.ts"

const compared = { source: "import", against: "2025-11-19", depth: 200, wasDepth: 100 }
const moodleaf = { rival: "9990000104", name: "Moodleaf", manual: true }
const event = { ...moodleaf, source: "itunes-lookup", beforeSeenAt: "2025-11-19T10:00:00.000Z" }
const places = { term: "tea", ours: 4, theirs: 3, oursWas: 3, theirsWas: 5, ...compared }
const chart = { device: "ipad" as const, chart: "free" as const, genre: "6015", genreName: "Finance", ...compared }

function alert<Type extends FindingType>(type: Type, facts: FactsOf[Type], rest: Partial<Alert> = {}): Alert {
  const place = { appId: "app_tea", platform: "ios" as const, storefront: "us", read: false }
  const at = new Date("2025-11-20T10:00:00Z")
  return { id: 1, ...place, type, subject: "", day: "2025-11-20", at, facts, ...rest } as Alert
}

describe("a sentence", () => {
  test.each([
    [
      alert("rank_drop", { term: "tide times", rank: 12, was: 3, ...compared }),
      '"tide times" fell from 3 to 12 in the US App Store',
    ],
    [
      alert("rank_rise", { term: "tea", rank: 3, was: 12, ...compared }, { platform: "android" }),
      '"tea" rose from 12 to 3 on Google Play in the US',
    ],
    [
      alert("dropped_out", { term: "tea", rank: null, was: 8, ...compared }),
      '"tea" dropped out in the US App Store: not in the first 200 (before: 8)',
    ],
    [
      alert("entered", { term: "tea", rank: 8, was: null, ...compared }),
      '"tea" entered at 8 in the US App Store (before: not in the first 100)',
    ],
    [
      alert("rival_passed", { ...moodleaf, ...places }),
      'Moodleaf passed you on "tea" in the US App Store: 3 vs 4 (before: 5 vs 3)',
    ],
    [
      alert("rival_beaten", { ...moodleaf, name: null, ...places, ours: 3, theirs: null }),
      'You passed 9990000104 on "tea" in the US App Store: 3 vs not in the first 200 (before: 3 vs 5)',
    ],
    [
      alert("rival_event", { ...event, change: "version", before: "4.0", after: "4.1" }),
      "Moodleaf updated from version 4.0 to 4.1 in the US App Store",
    ],
    [
      alert("rival_event", {
        ...event,
        change: "price",
        before: { price: 0 },
        after: { price: 2.99, currency: "USD" },
      }),
      "Moodleaf changed its price from free to 2.99 USD in the US App Store",
    ],
    [
      alert("rival_event", { ...event, change: "name", before: "Leaf", after: "Moodleaf" }),
      'Moodleaf changed its name from "Leaf" to "Moodleaf" in the US App Store',
    ],
    [
      alert("rival_event", { ...event, change: "icon", before: "a", after: "b" }),
      "Moodleaf changed its icon in the US App Store",
    ],
    [
      alert("rival_event", { ...event, change: "screenshots", before: {}, after: {} }),
      "Moodleaf changed its screenshots in the US App Store",
    ],
    [
      alert("rival_event", { ...event, change: "rating_jump", before: 4.6, after: 4.4 }),
      "Moodleaf fell from 4.6 to 4.4 stars in the US App Store",
    ],
    [
      alert("chart_drop", { ...chart, rank: 75, was: 40 }),
      "You fell from 40 to 75 on the free iPad chart of Finance in the US App Store",
    ],
    [
      alert("chart_drop", { ...chart, genreName: null, rank: null, was: 40 }),
      "You left the free iPad chart of genre 6015 in the US App Store: not in the first 200 (before: 40)",
    ],
    [
      alert("chart_enter", { ...chart, device: "iphone", rank: 75, was: null }),
      "You entered the free iPhone chart of Finance in the US App Store at 75 (before: not in the first 100)",
    ],
    [
      alert("chart_enter", { ...chart, rank: 75, was: 130 }),
      "You rose from 130 to 75 on the free iPad chart of Finance in the US App Store",
    ],
    [
      alert("featured", {
        card: "story",
        id: "1",
        title: "Slow mornings",
        source: "apple-app-page",
        beforeSeenAt: "2025-11-19T10:00:00.000Z",
      }),
      'The US App Store features you in a story: "Slow mornings"',
    ],
    [
      alert("review_wave", { feed: "us", count: 9, mean: 0.5, days: 28 }),
      "You got 9 one-star reviews in the US App Store (28 days before: 0.5 a day)",
    ],
    [
      alert("review_wave", { feed: "pt-BR", count: 9, mean: 0, days: 7 }, { platform: "android", storefront: null }),
      "You got 9 one-star reviews in the language pt-BR on Google Play (7 days before: 0 a day)",
    ],
    [
      alert("off_topic", {
        term: "tea",
        genre: "6015",
        genreName: "Finance",
        genres: [],
        source: "import",
        against: null,
      }),
      'None of the first ten results for "tea" in the US App Store shares your category, Finance',
    ],
  ])("the sentence of an alert equals example %#: %j", (row, sentence) => {
    expect(sentenceOf(row)).toBe(sentence)
  })

  const fallFacts = { term: "tea", rank: 12, was: 3, ...compared }
  const card = { card: "story" as const, id: "1", title: null, source: "apple-app-page" }
  const topic = { term: "tea", genre: "6015", genreName: "Finance", genres: [], source: "import" }

  test.each([
    [
      alert("rank_drop", { ...fallFacts, against: "2025-11-15" }),
      '"tea" fell from 3 to 12 in the US App Store since 2025-11-15',
    ],
    [
      alert("rival_passed", { ...moodleaf, ...places, against: "2025-11-15" }),
      'Moodleaf passed you on "tea" in the US App Store: 3 vs 4 (on 2025-11-15: 5 vs 3)',
    ],
    [
      alert("rival_event", { ...event, beforeSeenAt: "2025-11-13T10:00:00Z", change: "icon", before: "a", after: "b" }),
      "Moodleaf changed its icon in the US App Store since 2025-11-13",
    ],
    [
      alert("chart_drop", { ...chart, rank: 75, was: 40, against: "2025-11-15" }),
      "You fell from 40 to 75 on the free iPad chart of Finance in the US App Store since 2025-11-15",
    ],
    [
      alert("featured", { ...card, beforeSeenAt: "2025-11-13T10:00:00Z" }),
      "The US App Store features you in a story (not on 2025-11-13)",
    ],
    [
      alert("off_topic", { ...topic, against: "2025-11-18" }),
      'None of the first ten results for "tea" in the US App Store shares your category, ' +
        "Finance (on 2025-11-18 one did)",
    ],
  ])("a sentence names the compared day unless it is the previous day, example %#: %j", (row, sentence) => {
    expect(sentenceOf(row)).toBe(sentence)
  })

  test("a message about an alert of an earlier day begins with that day", () => {
    const drop = alert("rank_drop", fallFacts)
    expect(textOf(drop, "2025-11-20")).toBe('"tea" fell from 3 to 12 in the US App Store')
    expect(textOf(drop, "2025-11-21")).toBe('2025-11-20: "tea" fell from 3 to 12 in the US App Store')
  })
})

describe("the feed", () => {
  let sql: Sql
  let workspaceId: number
  let apps: string[]

  beforeEach(async () => {
    sql = await freshDatabase()
    workspaceId = await newWorkspace(sql)
    apps = [await trackNew(sql, [], { workspaceId }), await trackNew(sql, [], { workspaceId, iosId: "10002" })]
  })

  /** Adds one alert per hour, for the apps in turn. Every third one is read. */
  async function addAlerts(count: number, appIds = apps, workspace = workspaceId): Promise<void> {
    await sql`
      insert into alert (workspace_id, app_id, type, platform, storefront, subject, day, at, facts, read_at)
      select ${workspace}, (${appIds}::text[])[1 + n % ${appIds.length}::int], 'rank_drop', 'ios', 'us', 'term ' || n,
        '2025-11-20', timestamptz '2025-11-20' + n * interval '1 hour',
        jsonb_build_object('term', 'term ' || n), case when n % 3 = 0 then now() end
      from generate_series(0, ${count - 1}::int) n
      order by n`
  }

  const terms = (alerts: Alert[]) => alerts.map(({ subject }) => Number(subject.slice(5)))

  test("the feed is newest first, up to the limit, with the number of unread alerts", async () => {
    await addAlerts(10)
    const feed = await readFeed(sql, { workspaceId, rights: SCOPES, appIds: null, limit: 4 })
    expect(terms(feed.alerts)).toEqual([9, 8, 7, 6])
    expect(feed.alerts.map(({ read }) => read)).toEqual([true, false, false, true])
    expect(feed.unread).toBe(6)
  })

  test("alerts of the same time are ordered by id, the latest found first", async () => {
    await addAlerts(5)
    await sql`update alert set at = '2025-11-20T10:00:00Z'`
    const { alerts } = await readFeed(sql, { workspaceId, rights: SCOPES, appIds: null, limit: 3 })
    expect(terms(alerts)).toEqual([4, 3, 2])
  })

  test("a feed limited to some apps neither lists nor counts the alerts of other apps", async () => {
    await addAlerts(10)
    const only = { workspaceId, rights: SCOPES, appIds: [apps[1] as string], limit: 50 }
    const feed = await readFeed(sql, only)
    expect(terms(feed.alerts)).toEqual([9, 7, 5, 3, 1])
    expect(feed.unread).toBe(3)
    expect(terms((await readFeed(sql, { ...only, limit: 2 })).alerts)).toEqual([9, 7])
    expect(terms((await readFeed(sql, { ...only, appIds: apps, limit: 3 })).alerts)).toEqual([9, 8, 7])
    expect(await readFeed(sql, { ...only, appIds: [] })).toEqual({ unread: 0, alerts: [], omitted: 0 })
  })

  test("the feed contains no alert of another workspace, even if an app of that workspace is requested", async () => {
    const other = await newWorkspace(sql)
    const otherApp = await trackNew(sql, [], { workspaceId: other, iosId: "10003" })
    await addAlerts(10, [otherApp], other)
    expect(await readFeed(sql, { workspaceId, rights: SCOPES, appIds: null, limit: 50 })).toEqual({
      unread: 0,
      alerts: [],
      omitted: 0,
    })
    expect(await readFeed(sql, { workspaceId, rights: SCOPES, appIds: [otherApp], limit: 50 })).toEqual({
      unread: 0,
      alerts: [],
      omitted: 0,
    })
  })

  long("the feed stops counting unread alerts at a maximum", async () => {
    await addAlerts(UNREAD_COUNTED * 1.5 + 100)
    const [{ unread }] = [await readFeed(sql, { workspaceId, rights: SCOPES, appIds: null, limit: 1 })]
    expect(unread).toBe(UNREAD_COUNTED)
  })
})
