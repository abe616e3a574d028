import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { randomBytes } from "node:crypto"
import type { Sql } from "../../src/database/types.ts"
import { LISTING_LOCALES, listingLocale } from "../../src/lib/locales.ts"
import { silentLog } from "../../src/lib/log.ts"
import type { ReadPictures } from "../../src/lib/writing/picture-text.ts"
import { codeOf } from "../../src/listings/audits/locales-to-write.ts"
import { createWriting } from "../../src/texts/port/write.ts"
import { trackApp } from "../../src/tracking/apps.ts"
import { type Browser, fieldIn } from "../access/sign-in/browser.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { listed } from "../measuring/record/listed.ts"
import { appsReading, reading } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { openService, type Service } from "../service.ts"
import { openStandIn, type Script, well } from "../texts/stand-in.ts"
import { ownerOf } from "./app-scene.ts"

setDefaultTimeout(60_000)

// Keyword ideas, screenshot texts and translations: each page shows the cost before it is charged, and then the result.

const [OWN_APP, OTHER] = ["10001", "10003"]
const GERMAN = {
  name: "Tea Timer",
  subtitle: "Genau richtig gezogen",
  promotionalText: "Jetzt auch mit Oolong.",
  description: "Eine Uhr.\n\nFür Tee.",
  keywords: ["teezeit"],
  captions: [],
}

let sql: Sql
let service: Service
const standIn = openStandIn("chat")
afterAll(() => standIn.close())

beforeAll(async () => {
  sql = await freshDatabase()
  const near = { url: standIn.url, api: "chat" as const, model: "m-1", key: undefined }
  const { write } = createWriting({
    sql,
    log: silentLog,
    now: () => new Date(),
    randomBytes,
    pollMs: 20,
    patienceMs: 50,
    settings: { ...near, contextTokens: 100_000, tokensADay: 1e12, atOnce: 2 },
    fetch: (url, init) => fetch(url, init),
  })
  service = openService({ sql, write, pictures: PICTURES })
  const at = new Date(Date.now() - 3_600_000).toISOString()
  await record(sql, [
    listed(at, {}, { id: OWN_APP }),
    appsReading(at, [
      { id: OWN_APP, name: "Tea Timer", developer: "Leaves", ratings: 10 },
      { id: OTHER, name: "Tidal <i>Notes</i>", developer: "Tides", ratings: 10 },
    ]),
    reading("tea", at, [OTHER, OWN_APP]),
    reading("night brew", at, [OTHER, "10005", OWN_APP]),
  ])
})

/** The first picture has text, the second is unavailable. */
const PICTURES: ReadPictures = Object.assign(
  async (requests: readonly unknown[]) =>
    requests.map((_, place) => {
      if (place > 0) return { state: "broken", why: "unreachable" } as const
      const lines = [{ text: "Steep <b>well</b>", confidence: 91, x: 1, y: 1, width: 9, height: 9 }]
      const text = { width: 1_080, height: 2_341, lines }
      return { state: "read", text, at: new Date(), version: 1, by: "tesseract" } as const
    }),
  { find: async (requests: readonly unknown[]) => requests.map(() => null), unread: () => [] },
)

function play(...script: Script[]) {
  standIn.requests.splice(0)
  standIn.script.splice(0, standIn.script.length, ...script)
}

interface Opened {
  owner: Browser
  base: string
  app: string
  /** Units and credits of the month. */
  used(): Promise<[units: number, credits: number]>
  press(page: string): ReturnType<Browser["send"]>
}

async function opened(): Promise<Opened> {
  const workspaceId = await service.workspace({ plan: "pro", overrides: { ratePerSecond: 1e6 } })
  const tracked = { workspaceId, iosId: OWN_APP, countries: ["us"], keywords: ["tea"], origin: "own" }
  const app = await sql.begin((tx) => trackApp(tx, tracked))
  const base = `/app/apps/${app}`
  const owner = await ownerOf(service, workspaceId)
  return {
    owner,
    base,
    app,
    async used() {
      const [row] = await sql<[{ units: number; credits: number }]>`
        select (select coalesce(sum(used), 0)::int from allowance_used where workspace_id = a.workspace_id) as units,
          a.used::int as credits
        from account a
        where a.workspace_id = ${workspaceId}`
      return [row.units, row.credits]
    },
    press: async (page) =>
      await owner.send(`${base}${page}`, { form: fieldIn(await owner.open(`${base}${page}`), "form") as string }),
  }
}

slow("the page of keyword ideas shows the cost before the ideas, and a selected idea is tracked", async () => {
  const { owner, base, app, used, press } = await opened()
  expect((await owner.open(base)).text).toContain(`href="${base}/ideas?at=us-ios"`)
  const asks = await owner.open(`${base}/ideas`)
  expect(asks.text).toContain("It takes 1 credit and, if the ideas are new today, one AI text")
  expect([asks.text.includes("night brew"), await used()]).toEqual([false, [0, 0]])
  play(well(() => ({ picks: ["c1"], ideas: [{ from: "Steep it right", term: "steep right" }] })))
  const { status, text } = await press("/ideas")
  expect([status, await used()]).toEqual([200, [1, 1]])
  expect(text).toContain('name="keywords" value="night brew"')
  expect(text).toContain("fits the app")
  expect(text).toContain('value="steep right"')
  expect(text).toContain("The app already ranks 3 for this keyword, which is not tracked.")
  expect(text).toContain("<bdi>Tidal &lt;i&gt;Notes&lt;/i&gt;</bdi> ranks 1")
  const form = /name="form" value="([^"]*)"/.exec(text)![1] as string
  const sent = { form, action: "add_keywords", back: base, appId: app, keywords: "night brew" }
  const preview = await owner.send("/app/write", sent)
  expect([preview.status, preview.text.includes("night brew")]).toEqual([200, true])
  const confirmed = { form, back: base, confirmToken: fieldIn(preview, "confirmToken") as string }
  expect((await owner.send("/app/write", confirmed)).status).toBe(303)
  expect((await owner.open(base)).text).toContain("<bdi>night brew</bdi>")
})

test("screenshot texts are read only after a button is pressed, and an unavailable picture is reported", async () => {
  const { owner, base, used, press } = await opened()
  expect((await owner.open(`${base}/page`)).text).toContain(`href="${base}/shots?at=us-ios"`)
  expect((await owner.open(`${base}/shots`)).text).toContain("It takes 1 credit and, for new screenshots, one AI text")
  expect(await used()).toEqual([0, 0])
  const { status, text } = await press("/shots")
  expect([status, await used()]).toEqual([200, [1, 1]])
  expect(text).toContain("<bdi>Steep &lt;b&gt;well&lt;/b&gt;</bdi>")
  expect(text).toContain("91 of 100 sure")
  expect(text).toContain("Its host did not respond")
})

test("a translation is neither started nor charged without a storefront audit", async () => {
  const { owner, base, used, press } = await opened()
  const { text } = await owner.open(`${base}/localize`)
  expect(text).toContain("No storefront audit yet")
  expect(text).toContain("It takes 1 credit.")
  const refused = await owner.send(`${base}/localize?audit=1`, {
    form: fieldIn(await owner.open(`${base}/localize`), "form")!,
  })
  expect(refused.text).toContain("This instance does not read it.")
  expect((await press("/localize?locale=de-DE")).text).toContain("Localization needs a storefront audit first.")
  expect(await used()).toEqual([0, 0])
})

test("a translation is charged when its button is pressed, and viewing the result is free", async () => {
  const { owner, base, used, press } = await opened()
  const page = {
    name: "Tea Timer",
    subtitle: "Steep it right",
    screenshotsPhone: 4,
    ratings: 5,
    text: "f7",
    writtenIn: "en",
  }
  const rows = ["us", "de", "at"].map((country) => ({ country, state: "sold", ...page }))
  await sql`
    insert into storefront_audit (app_id, started_at, storefronts, priority, finished_at, failed, rows)
    select id, now() - interval '2 hours', '{us,de,at}'::text[], 1, now() - interval '1 hour', false,
      ${sql.json(rows)}::jsonb
    from store_app
    where store_id = ${OWN_APP}`
  const offered = (await owner.open(`${base}/localize`)).text.replace(/>\s+</g, "><")
  expect(offered).toMatch(/<option value="de-DE">\s*German \(Germany\) \(de-DE\)\s*<\/option>/)
  expect(offered).toMatch(
    /Keywords across locales[\s\S]*United States<\/th><td class="num">4 <span class="small quiet">first/,
  )
  expect(offered).not.toContain("Read in none of your storefronts")
  expect(/German \(Germany\) <span[^<]*<\/span><\/th><td class="num">2<\/td><td class="num">10</.test(offered)).toBe(
    true,
  )
  const asks = await owner.open(`${base}/localize?locale=de-DE`)
  expect(asks.text).toContain("one listing text of the plan")
  expect([
    (await owner.open(`${base}/localize?locale=de-DE&poll=1`)).text.includes("No localization is running"),
    await used(),
  ]).toEqual([true, [0, 0]])
  play(well(() => GERMAN))
  const begun = await press("/localize?locale=de-DE")
  expect([begun.status, await used()]).toEqual([200, [1, 1]])
  const look = `${base}/localize?locale=de-DE&poll=1`
  let text = begun.text
  while (text.includes("It is being written")) {
    expect(text).toContain(`href="${look.replaceAll("&", "&amp;")}"`)
    await Bun.sleep(20)
    text = (await owner.open(look)).text
  }
  expect(text).toContain("<bdi>Genau richtig gezogen</bdi>")
  expect(text).toContain("<bdi>Steep it right</bdi>")
  expect(text).toContain("<bdi>teezeit</bdi>")
  expect(await used()).toEqual([1, 1])
})

test("a text page is not found for another workspace's app, and its form is refused without the token", async () => {
  const [{ base }, other] = [await opened(), await opened()]
  const form = fieldIn(await other.owner.open("/app/add"), "form") as string
  for (const page of ["/ideas", "/shots", "/localize?locale=de-DE", "/localize?audit=1"]) {
    expect([page, (await other.owner.send(`${base}${page}`, { form })).status]).toEqual([page, 404])
    expect([page, (await other.owner.send(`${other.base}${page}`, { form: "guessed" })).status]).toEqual([page, 403])
  }
  expect(await other.used()).toEqual([0, 0])
})

test("each listing locale has a code that API calls accept", () => {
  for (const locale of LISTING_LOCALES) {
    expect(codeOf(locale)).toMatch(/^[a-z]{2}-[A-Z]{2}$/)
    expect([locale, listingLocale(codeOf(locale))]).toEqual([locale, locale])
  }
})
