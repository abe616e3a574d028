import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { randomBytes } from "node:crypto"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { createWriting } from "../../src/texts/port/write.ts"
import { type Browser, fieldIn } from "../access/sign-in/browser.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { listed } from "../measuring/record/listed.ts"
import { reviewed } from "../measuring/record/reviewed.ts"
import { record } from "../record.ts"
import { openService, type Service } from "../service.ts"
import { openStandIn, type Script, well } from "../texts/stand-in.ts"
import { trackOwn } from "../world/tracked.ts"
import { ownerOf } from "./app-scene.ts"

setDefaultTimeout(60_000)

const NOW = new Date("2026-05-20T12:00:00Z")
let sql: Sql
let service: Service
let serviceWithoutAi: Service
const standIn = openStandIn("responses")
afterAll(() => standIn.close())

beforeAll(async () => {
  sql = await freshDatabase()
  const settings = { url: standIn.url, api: "responses" as const, model: "m-1", key: undefined }
  const { write } = createWriting({
    sql,
    log: silentLog,
    now: () => NOW,
    randomBytes,
    pollMs: 20,
    patienceMs: 50,
    settings: { ...settings, contextTokens: 100_000, tokensADay: 1e12, atOnce: 2 },
    fetch: (url, init) => fetch(url, init),
  })
  service = openService({ sql, now: () => NOW, write })
  serviceWithoutAi = openService({ sql, now: () => NOW })
  const page = listed("2026-05-19T10:00:00Z")
  await record(sql, [page], () => NOW)
  const texts = ["Far <b>too</b> many ads after each level.", "It crashes on start since the update.", "Nice."]
  const many = Array.from({ length: 30 }, (_, n) => ({ id: `${n}`, text: texts[n % 3]!, stars: 1 + (n % 5) }))
  const end = { end: { pages: 1, complete: true, empty: false } }
  await record(sql, [reviewed("2026-05-19T10:00:00Z", many, end)], () => NOW)
})

interface Opened {
  owner: Browser
  base: string
  /** Units used this month. */
  used(): Promise<number>
  /** Presses the button of a page. */
  press(page: string): ReturnType<Browser["send"]>
}

async function opened(storeId: string, target = service): Promise<Opened> {
  const workspaceId = await target.workspace({ plan: "pro" })
  const tracked = { workspaceId, iosId: storeId, countries: ["us"], keywords: ["tea timer", "oolong"], origin: "own" }
  const base = `/app/apps/${await trackOwn(sql, tracked)}`
  const owner = await ownerOf(target, workspaceId)
  return {
    owner,
    base,
    async used() {
      const [row] = await sql<[{ used: number }]>`
        select coalesce(sum(used), 0)::int as used
        from allowance_used
        where workspace_id = ${workspaceId}`
      return row.used
    },
    press: async (page) =>
      await owner.send(`${base}${page}`, { form: fieldIn(await owner.open(`${base}${page}`), "form") as string }),
  }
}

function play(...script: Script[]) {
  standIn.requests.splice(0)
  standIn.script.splice(0, standIn.script.length, ...script)
}

async function listedId(): Promise<string> {
  const [app] = await sql<[{ id: string }]>`select store_id as id from store_app where developer = 'Leaves' order by id`
  return app.id
}

slow("a summary of reviews is created only by its button, is charged once per day and quotes reviews", async () => {
  const { owner, base, used, press } = await opened("10001", serviceWithoutAi)
  expect((await owner.open(`${base}/reviews`)).text).toContain(`href="${base}/summary?at=us-ios"`)
  const link = await owner.open(`${base}/summary`)
  expect([link.status, link.text.includes("Crashes and bugs"), await used()]).toEqual([200, false, 0])
  const forged = await owner.send(`${base}/summary`, { form: "guessed" })
  expect([forged.status, await used()]).toEqual([403, 0])
  const { status, text } = await press("/summary")
  expect([status, await used()]).toEqual([200, 1])
  expect(text).toContain("<h2>Crashes and bugs</h2>")
  expect(text).toContain("“<bdi>It crashes on start since the update.</bdi>”")
  expect(text).toContain("many ads after each level.")
  expect(text).not.toContain("<b>too</b>")
  expect(text).toContain("Chosen and counted by rules")
  await press("/summary")
  expect(await used()).toBe(1)
})

test("a draft page without a language model says so, and nothing is charged", async () => {
  for (const [storeId, page] of [
    [await listedId(), "/draft"],
    ["10001", "/reply?review=1"],
  ] as const) {
    const { press, used } = await opened(storeId, serviceWithoutAi)
    const { status, text } = await press(page)
    expect([page, status, text.includes("No language model is set up here")]).toEqual([page, 200, true])
    expect(await used()).toBe(0)
  }
})

test("a draft of a store page shows each field with its evidence and escapes HTML", async () => {
  const { owner, base, press, used } = await opened(await listedId())
  expect((await owner.open(`${base}/page`)).text).toContain(`href="${base}/draft?at=us-ios"`)
  const resting = (text: string) => [{ facts: ["Steep it right"], text }]
  play(
    well(() => ({
      name: resting("Tea Timer"),
      subtitle: resting("Steep oolong right"),
      promotionalText: resting("Now with oolong."),
      description: resting("A timer <i>for</i> tea."),
    })),
  )
  const { status, text } = await press("/draft")
  expect([status, await used()]).toEqual([200, 1])
  expect(text).toContain("<bdi>Steep oolong right</bdi>")
  expect(text).toContain('“<bdi>Steep it right</bdi>” <span class="small quiet">on the page</span>')
  expect(text).toContain("18 of 30 characters")
  expect(text).not.toContain("<i>for</i>")
  expect(text).toContain("<code>m-1</code>")
})

test("a drafted reply quotes its review, and the text pages of another workspace's app are not found", async () => {
  const { base, press } = await opened("10001")
  play(well(() => ({ addresses: ["crashes on start"], reply: "Thank you. We are looking into the crash." })))
  const { status, text } = await press("/reply?review=1")
  expect(status).toBe(200)
  expect(text).toContain("<bdi>Thank you. We are looking into the crash.</bdi>")
  expect(text).toContain("“<bdi>crashes on start</bdi>”")
  const other = await opened("10001")
  const form = fieldIn(await other.owner.open("/app/add"), "form") as string
  for (const page of ["/summary", "/draft", "/reply?review=1"])
    expect([page, (await other.owner.send(`${base}${page}`, { form })).status]).toEqual([page, 404])
})
