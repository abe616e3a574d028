import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { changeRights, removeMember } from "../../src/access/people/people.ts"
import type { Right } from "../../src/access/scopes.ts"
import { FEED_TYPES } from "../../src/alerts/types.ts"
import { DATASETS, datasetOf } from "../../src/sharing/feed/datasets.ts"
import { type FeedRequest, requestFeed } from "../../src/sharing/feed/request.ts"
import { xmlText } from "../../src/sharing/feed/xml.ts"
import { hashesFrom, readLinks } from "../../src/sharing/link-handles.ts"
import { linkDigest } from "../../src/sharing/token.ts"
import { removeApp } from "../../src/tracking/apps.ts"
import { memberOf } from "../access/people/scene.ts"
import type { Browser } from "../access/sign-in/browser.ts"
import { addAlerts, facts } from "../alerts/delivery/scene.ts"
import { errorOf } from "../error-of.ts"
import { slow } from "../long.ts"
import { ownerOf } from "../pages/app-scene.ts"
import { settingsBrowser } from "../pages/settings/settings-browser.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"
import { anApp } from "../writes/writer.ts"
import { AT, ago, exportScene } from "./export-scene.ts"
import { readAtom } from "./read-atom.ts"
import { readTable } from "./read-csv.ts"

setDefaultTimeout(60_000)

const scene = exportScene()
/** Two processes on one database. Their clock advances by a second each time it is read. */
let services: [Service, Service]
let clock = AT.getTime()

beforeAll(() => {
  const service = () => openService({ sql: scene.sql, now: () => new Date(clock) })
  services = [service(), service()]
})
beforeEach(async () => {
  await scene.sql`delete from feed_link`
})

const ALERTS: FeedRequest = { dataset: "alerts", format: "", platform: "", country: "", columns: "" }
const REVIEWS = { ...ALERTS, dataset: "reviews" }
const RANKS = { ...ALERTS, dataset: "ranks" }

/** Creates a feed by a command on the machine. Returns its address. */
async function feedOf(request: FeedRequest, keyId: number | null = null): Promise<string> {
  const app = { id: scene.app, countries: ["us", "de"] }
  const by = { workspaceId: scene.workspace, keyId, publicUrl: PUBLIC_URL }
  return (await requestFeed(scene.sql, app, by, request)).url
}

async function open(url: string, init: RequestInit = {}, service = services[0]) {
  clock += 1_000
  const response = await service.app.fetch(new Request(url, init), "192.0.2.7")
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const alerts = async (count: number, more: Parameters<typeof addAlerts>[2] = {}) => {
  const alertScene = { sql: scene.sql, workspaceId: scene.workspace, appId: scene.app } as Parameters<
    typeof addAlerts
  >[0]
  return await addAlerts(alertScene, count, more)
}

describe("an Atom feed", () => {
  test("a feed of alerts is valid Atom, lists the newest alert first and keeps the ids of its entries", async () => {
    await alerts(2)
    const url = await feedOf(ALERTS)
    const { status, headers, text } = await open(url)
    expect([status, headers.get("content-type")]).toEqual([200, "application/atom+xml; charset=utf-8"])
    const feed = readAtom(text)
    expect(feed).toMatchObject({ self: url, title: "Kettle: alerts", updated: "2025-11-20T06:12:41.000Z" })
    expect(feed.entries.map(({ title, category }) => [title, category])).toEqual([
      ['"tea 2" fell from 5 to 12 in the US App Store', "rank_drop"],
      ['"tea" fell from 5 to 12 in the US App Store', "rank_drop"],
    ])
    await alerts(1, { term: "pot" })
    const ids = readAtom((await open(url)).text).entries.map(({ id }) => id)
    expect(ids.slice(1)).toEqual(feed.entries.map(({ id }) => id))
    expect(ids[0]).toMatch(new RegExp(`^tag:${new URL(PUBLIC_URL).hostname},2026:alert/\\d+$`))
  })

  test("a feed of reviews with hostile texts is valid Atom and contains the texts as plain text", async () => {
    const text = `]]><entry/> <script>&amp; "x" '\r\n@all https://evil.example`
    await scene.review([{ id: "14", title: "<b>=1+1</b>", text, stars: 2, at: new Date(`${ago(1)}T05:00:00Z`) }])
    const { entries, title } = readAtom((await open(await feedOf(REVIEWS))).text)
    expect(title).toBe("Kettle: reviews, United States, App Store")
    expect(entries.map(({ title }) => title)).toEqual(["★★☆☆☆ <b>=1+1</b>", "★☆☆☆☆", "★★★★★ Good", "★★★☆☆"])
    expect(entries[0]!.content).toStartWith("]]><entry/> <script>&amp; ")
    expect(entries[0]!.updated).toBe(`${ago(1)}T05:00:00.000Z`)
    expect(entries[2]!.content).toBe("Boils water.\n\nVersion 1.0")
  })

  test("a feed without entries is valid Atom, and its update time is its creation time", async () => {
    const { entries, updated } = readAtom((await open(await feedOf(ALERTS))).text)
    expect([entries, Math.abs(Date.parse(updated) - Date.now()) < 600_000]).toEqual([[], true])
  })

  test("a feed has only the newest 100 alerts or reviews", async () => {
    await alerts(120)
    const reviews = Array.from({ length: 120 }, (_, at) => ({
      id: `r${at}`,
      at: new Date(Date.parse(`${ago(4)}T00:00:00Z`) + at * 1_000),
    }))
    await scene.review(reviews)
    for (const request of [ALERTS, REVIEWS])
      expect(readAtom((await open(await feedOf(request))).text).entries).toHaveLength(100)
    const [first] = readAtom((await open(await feedOf({ ...REVIEWS }))).text).entries
    expect(first!.id).toEndWith("/12")
  })

  test("a feed has the same times in any time zone of the server", async () => {
    await alerts(1)
    const url = await feedOf(ALERTS)
    const before = (await open(url)).text
    const zone = process.env.TZ
    process.env.TZ = "Pacific/Kiritimati"
    const { text } = await open(url)
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
    expect(text).toBe(before)
  })
})

test("XML texts contain no character that XML cannot represent", () => {
  const all = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code)).join("x")
  const escaped = xmlText(all)
  expect(escaped.isWellFormed()).toBe(true)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be left
  expect(escaped).not.toMatch(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff<>"']/)
})

/** Parses a table that has no byte order mark. */
const table = (text: string) => readTable(`\ufeff${text}`)

describe("a table", () => {
  test("a table of ranks has the chosen columns in the chosen order and shows new ranks", async () => {
    const url = await feedOf({ ...RANKS, columns: "rank, term,measured" })
    const { headers, text } = await open(url)
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present")
    expect(text.split("\r\n")).toEqual(["rank,term,measured", "3,tea,true", ",kettle,true", ",never read,false", ""])
    await scene.measure("tea", 0, ["1437843273"])
    expect(table((await open(url)).text)[0]).toEqual({ rank: "1", term: "tea", measured: "true" })
  })

  test("a table of reviews has all columns by default, and its texts are neutralised as formulas", async () => {
    await scene.review([{ id: "14", title: "=1+1", text: '@SUM(A1)\r\n"x"; y', at: new Date(`${ago(1)}T05:00:00Z`) }])
    const [row] = table((await open(await feedOf({ ...REVIEWS, format: "csv" }))).text)
    expect(Object.keys(row!)).toEqual([...datasetOf("reviews").columns])
    expect(row).toMatchObject({ id: "14", date: `${ago(1)}T05:00:00.000Z`, title: "'=1+1" })
    expect(row!.text).toStartWith("'@SUM(A1)")
  })

  test("a table of alerts has one row per alert and omits withdrawn alerts", async () => {
    const [id] = await alerts(2)
    await scene.sql`update alert set withdrawn_at = now() where id = ${id!}`
    const rows = table((await open(await feedOf({ ...ALERTS, format: "csv" }))).text)
    expect(rows.map(({ id, appName, country }) => [Number(id), appName, country])).toEqual([[id! + 1, "Kettle", "us"]])
  })
})

test("a feed contains no alerts and no columns about money", async () => {
  const money = FEED_TYPES.filter(({ hasMoney }) => hasMoney)
  expect(money.map(({ name }) => name)).toEqual(["asa_rule"])
  for (const { name, example } of money)
    await scene.sql`
      insert into alert (workspace_id, app_id, type, platform, storefront, subject, day, at, facts)
      values (${scene.workspace}, ${scene.app}, ${name}, 'ios', 'us', ${name}, '2025-11-20', '2025-11-20T06:12:41Z',
        ${scene.sql.json(example as object as typeof FACTS)})`
  expect(readAtom((await open(await feedOf(ALERTS))).text).entries).toEqual([])
  const columns = DATASETS.flatMap((dataset) => datasetOf(dataset).columns)
  expect(columns.filter((name) => /revenue|price|proceed|spend|bid|budget|amount|currency|mrr/i.test(name))).toEqual([])
})
const FACTS = facts("tea", 5, 12)

describe("reading a feed", () => {
  test("a feed is private, sends no referrer, and returns 304 until its entries change", async () => {
    await alerts(1)
    const url = await feedOf(ALERTS)
    const first = await open(url)
    const etag = first.headers.get("etag") as string
    expect(Object.fromEntries(first.headers)).toMatchObject({
      "cache-control": "private, no-cache",
      "referrer-policy": "no-referrer",
      "x-robots-tag": "noindex, nofollow",
      "x-content-type-options": "nosniff",
      "x-credits-used": "0",
    })
    for (const tag of [etag, `"other", ${etag}`, etag.slice(2), "*"]) {
      const { status, text, headers } = await open(url, { headers: { "if-none-match": tag } })
      expect([tag, status, text, headers.get("etag")]).toEqual([tag, 304, "", etag])
    }
    const head = await open(url, { method: "HEAD" })
    expect([head.status, head.text, head.headers.get("etag")]).toEqual([200, "", etag])
    await alerts(1, { term: "pot" })
    const changed = await open(url, { headers: { "if-none-match": etag } })
    expect([changed.status, changed.headers.get("etag") === etag]).toEqual([200, false])
  })

  test("requests for a feed are limited to two per second", async () => {
    const [url, other] = [await feedOf(ALERTS), await feedOf(ALERTS)]
    clock = Math.ceil(clock / 1_000) * 1_000
    const statuses: number[] = []
    for (const address of [url, url, url, other]) {
      const response = await services[0].app.fetch(new Request(address), "192.0.2.9")
      statuses.push(response.status)
    }
    expect(statuses).toEqual([200, 200, 429, 200])
  })
})

const NOBODY = { person: 0 }

describe("a feed ends at once in every process", () => {
  const expectGone = async (url: string) => {
    const unknown = await open(`${PUBLIC_URL}/feeds/${"A".repeat(43)}`)
    for (const service of services) {
      const { status, text } = await open(url, {}, service)
      expect([status, text]).toEqual([404, unknown.text])
    }
  }
  const works = async (url: string) => {
    for (const service of services) expect((await open(url, {}, service)).status).toBe(200)
  }

  test("a feed ends when its workspace withdraws it, and its address is shown only when it is created", async () => {
    const owner = await ownerOf(services[0], scene.workspace)
    const settings = settingsBrowser(owner, "/app/settings/sharing")
    const fields = { appId: scene.app, country: "us", platform: "ios", content: "ranks csv", columns: "term,rank" }
    const created = await settings.send("feed", fields)
    const [, url = ""] = /value="(http[^"]+\/feeds\/[^"]+)"/.exec(created.text) ?? []
    await works(url)
    const list = (await owner.open("/app/settings/sharing")).text
    const token = url.split("/").at(-1) as string
    expect([list.includes(token), list.includes("ranks of us on ios, csv (term, rank)")]).toEqual([false, true])
    const [, handle = ""] = /class="hash">(feed_\w+)/.exec(list) ?? []
    const otherWorkspace = settingsBrowser(
      await ownerOf(services[0], await scene.service.workspace()),
      "/app/settings/sharing",
    )
    expect((await otherWorkspace.send("withdrawn", { id: handle })).status).toBe(400)
    await works(url)
    await settings.send("withdrawn", { id: handle })
    await expectGone(url)
    const rows = JSON.stringify(await scene.sql`select * from feed_link`)
    const texts = [rows, ...services.flatMap(({ logged }) => logged), ...scene.service.logged]
    expect(texts.filter((text) => text.includes(token))).toEqual([])
  })

  slow("a feed ends when its creator loses the right, loses access to the app or leaves the workspace", async () => {
    const owner = await ownerOf(services[0], scene.workspace)
    const url = await created(owner, "reviews atom")
    const alertsUrl = await created(owner, "alerts atom")
    await works(url)
    const [{ person } = NOBODY] = await scene.sql<{ person: number }[]>`
      select person_id as person
      from membership
      where workspace_id = ${scene.workspace}`
    await memberOf(scene.service, scene.workspace, "owner")
    const changes = async (scopes: Right[], appList: string[] | null) =>
      await scene.sql.begin((tx) => changeRights(tx, scene.workspace, person, { scopes, appList }))
    await changes(["apps:read"], null)
    await expectGone(url)
    await works(alertsUrl)
    await changes(["apps:read"], [await anApp(scene.sql, scene.workspace)])
    await expectGone(alertsUrl)
    await changes(["apps:read"], [scene.app])
    await works(alertsUrl)
    await scene.sql.begin((tx) => removeMember(tx, scene.workspace, person))
    await expectGone(alertsUrl)
    const open = await readLinks(scene.sql, { workspaceId: scene.workspace, ...hashesFrom("") })
    expect(open.filter(({ kind }) => kind === "feed")).toEqual([])
  })

  test("a feed ends when its app is removed, and stops working while its workspace is suspended", async () => {
    const url = await feedOf(ALERTS)
    await scene.sql`update workspace set suspended_at = now() where id = ${scene.workspace}`
    await expectGone(url)
    await scene.sql`update workspace set suspended_at = null where id = ${scene.workspace}`
    await works(url)
    await scene.sql.begin((tx) => removeApp(tx, scene.app))
    await expectGone(url)
    expect(
      await scene.sql`select 1 from feed_link where sha256 = ${linkDigest(url.split("/").at(-1) as string)}`,
    ).toEqual([] as never)
  })

  async function created(owner: Browser, content: string): Promise<string> {
    const fields = { appId: scene.app, country: "us", platform: "ios", content, columns: "" }
    const { text } = await settingsBrowser(owner, "/app/settings/sharing").send("feed", fields)
    return /value="(http[^"]+\/feeds\/[^"]+)"/.exec(text)?.[1] as string
  }
})

describe("an invalid request for a feed is refused with the allowed values", () => {
  test.each<[Partial<FeedRequest>, RegExp]>([
    [{ dataset: "money" }, /dataset must be one of alerts, reviews, ranks/],
    [{ dataset: "ranks", format: "atom" }, /ranks have no atom feed; choose csv/],
    [{ dataset: "ranks", columns: "term,revenue" }, /"revenue" is not a column of ranks.*columns are term, country/],
    [{ dataset: "ranks", columns: "term,term" }, /is named twice/],
    [{ columns: "id" }, /a feed of entries has no columns/],
    [{ dataset: "ranks", country: "fr" }, /does not track this storefront; it tracks us, de/],
    [{ dataset: "ranks", platform: "windows" }, /platform must be one of ios, android/],
  ])("%p", async (change, message) => {
    expect(String(await errorOf(feedOf({ ...ALERTS, ...change })))).toMatch(message)
  })

  test("a workspace can have at most 50 feeds", async () => {
    for (let n = 0; n < 50; n++) await feedOf(ALERTS)
    expect(String(await errorOf(feedOf(ALERTS)))).toContain("50 feeds at most")
  })
})
