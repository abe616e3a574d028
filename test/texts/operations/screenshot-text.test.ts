import { beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Sql } from "../../../src/database/types.ts"
import { createLog } from "../../../src/lib/log.ts"
import { OutboundProblem } from "../../../src/outbound/problem.ts"
import { openPictures, type PictureParts } from "../../../src/texts/pictures/read-pictures.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { listed } from "../../measuring/record/listed.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

setDefaultTimeout(60_000)

const OWN_APP = "30001"
const PICTURE = new Uint8Array(readFileSync(join(import.meta.dirname, "../pictures/opentracks/8.jpg")))
const at = (name: string) => `https://pictures.example/${name}`

let sql: Sql
let service: Service
/** Responses by address: bytes, a status, or a failure. */
const byUrl = new Map<string, Uint8Array | number | "unreachable" | "too_large">()
let requestedUrls: string[] = []
let readMs = 0

beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  await sql`delete from writer_text`
  byUrl.clear()
  requestedUrls = []
  readMs = 0
  service = serviceWith()
})

/** The words that the stand-in for OCR finds in every picture, in Tesseract's format. */
const TABLE = "5\t1\t1\t1\t1\t1\t90\t157\t554\t96\t95.4\tCalm\n5\t1\t1\t1\t1\t2\t700\t157\t100\t96\t91\tpages"

function serviceWith(parts: Partial<PictureParts> = {}): Service {
  const pictures = openPictures({
    sql,
    log: createLog(() => {}, "error"),
    data: new Set(["eng"]),
    pollMs: 20,
    turn: async () => {},
    async fetch(url) {
      requestedUrls.push(url)
      const found = byUrl.get(url) ?? PICTURE
      if (typeof found === "string") throw new OutboundProblem(found)
      const [status, bytes] = typeof found === "number" ? [found, new Uint8Array()] : [200, found]
      return { url, status, headers: new Headers(), bytes }
    },
    ocr: {
      async read() {
        await Bun.sleep(readMs)
        return TABLE
      },
      stop() {},
    },
    ...parts,
  })
  return openService({ sql, pictures: pictures.read })
}

let pages = 0

async function opened(phone: string[], options: Parameters<Service["workspace"]>[0] = {}) {
  const shows = async (addresses: string[]) => {
    const day = `2025-11-${String(++pages).padStart(2, "0")}T00:00:00Z`
    await record(sql, [listed(day, { screenshots: { phone: addresses } }, { id: OWN_APP })])
  }
  await shows(phone)
  const workspaceId = await service.workspace(options)
  const key = await service.key(workspaceId)
  const app = { workspaceId, iosId: OWN_APP, countries: ["us", "jp"], keywords: ["journal"], origin: "own" }
  const appId = await trackOwn(sql, app)
  const get = (query = "", target = service) => target.call(`/v1/apps/${appId}/shot-text${query}`, { key })
  const used = async () => {
    const [row] = await sql<{ used: number }[]>`
      select coalesce(sum(used), 0)::int as used
      from allowance_used
      where workspace_id = ${workspaceId} and allowance = 'aiWriting'`
    return row!.used
  }
  return { get, used, shows }
}

test("an unreadable screenshot is null with the reason, and a second call for the screenshots is free", async () => {
  const addresses = ["1.png", "gone.png", "page.png", "4.png", "5.png"].map(at)
  byUrl.set(at("gone.png"), 404).set(at("page.png"), new TextEncoder().encode("<html>"))
  const { get, used } = await opened(addresses)
  const { status, body } = await get()
  expect([status, body.indexed, body.unread, await used()]).toEqual([200, false, [], 1])
  expect(body.screenshots.map(({ address, caption, problem }: never) => [address, caption, problem])).toEqual([
    [at("1.png"), "Calm pages", null],
    [at("gone.png"), null, "unreachable"],
    [at("page.png"), null, "unreadable"],
    [at("4.png"), "Calm pages", null],
  ])
  expect(body.screenshots[0]).toMatchObject({ width: 1_037, height: 2_243, position: 1 })
  expect(body.screenshots[0].lines).toEqual([
    { text: "Calm pages", confidence: 91, x: 90, y: 157, width: 710, height: 96 },
  ])
  expect(body.screenshots[1]).toMatchObject({ width: null, height: null, lines: null })
  expect(body.written).toMatchObject({ by: "ocr", model: "tesseract", dropped: [] })
  expect(requestedUrls.toSorted()).toEqual(addresses.slice(0, 4).toSorted())

  // the picture that could not be fetched is requested again, and the unit of the day covers it
  byUrl.delete(at("gone.png"))
  expect((await get()).body.screenshots[1]).toMatchObject({ caption: "Calm pages", problem: null })
  expect([requestedUrls.length, await used()]).toEqual([5, 1])
  const repeated = await get()
  expect([repeated.status, requestedUrls.length, await used()]).toEqual([200, 5, 1])
})

test("screenshots that another workspace had read are free, and only a changed screenshot is charged", async () => {
  const first = await opened([at("a.png"), at("b.png")])
  await first.get()
  const other = await opened([at("a.png"), at("b.png")])
  expect([(await other.get()).status, await other.used(), requestedUrls.length]).toEqual([200, 0, 2])
  await other.shows([at("a.png"), at("c.png")])
  expect([(await other.get()).status, await other.used(), requestedUrls.length]).toEqual([200, 1, 3])
})

slow("many callers in two processes cause only one OCR run for a picture", async () => {
  readMs = 100
  const { get } = await opened([at("once.png")], { overrides: { ratePerSecond: 10_000 } })
  const second = serviceWith()
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => get("", n % 2 ? service : second)))
  expect([new Set(answers.map(({ status }) => status)), requestedUrls.length]).toEqual([new Set([200]), 1])
})

test("a call is not charged if no picture can be fetched, OCR is missing, or the page was not read", async () => {
  const { get, used } = await opened([at("x.png")])
  byUrl.set(at("x.png"), "unreachable")
  const refused = await get()
  expect([refused.status, refused.body.error, refused.headers.get("retry-after")]).toEqual([503, "unavailable", "60"])
  const off = await get("", serviceWith({ ocr: null }))
  expect([off.status, off.body.error]).toEqual([404, "not_measured"])
  const broken = serviceWith({ ocr: { read: async () => Promise.reject(new Error("no thread")), stop() {} } })
  byUrl.delete(at("x.png"))
  expect((await get("", broken)).body.error).toBe("not_measured")
  const unread = await get("?cc=jp")
  expect([unread.status, unread.body.error, await used()]).toEqual([404, "not_measured", 0])
})

test("a page without screenshots gives an empty list, and a picture that is too large is unreadable", async () => {
  const { get, used } = await opened([])
  expect((await get()).body).toMatchObject({ screenshots: [], written: null, unread: [] })
  expect(await used()).toBe(0)
  const large = await opened([at("large.png")])
  byUrl.set(at("large.png"), "too_large")
  expect((await large.get()).body.screenshots[0]).toMatchObject({ caption: null, problem: "unreadable" })
  await large.get()
  expect(requestedUrls.length).toBe(1)
})

test("languages without OCR data are listed in the field `unread`", async () => {
  await record(sql, [
    listed("2025-10-01T00:00:00Z", { screenshots: { phone: [at("jp.png")] } }, { id: OWN_APP, storefront: "jp" }),
  ])
  const { get } = await opened([at("us.png")])
  expect((await get("?cc=jp")).body).toMatchObject({ country: "jp", unread: ["ja"] })
})

test("get_screenshot_text is refused if the allowance is used up or the plan is too low", async () => {
  const none = await opened([at("none.png")], { overrides: { aiWriting: 0 } })
  const refused = await none.get()
  expect([refused.status, refused.body.error, requestedUrls.length]).toEqual([429, "ai_text_limit", 0])
  const free = await opened([at("none.png")], { plan: "free", pack: 1_000 })
  expect((await free.get()).body.error).toBe("plan_required")
})
