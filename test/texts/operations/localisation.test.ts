import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { randomBytes } from "node:crypto"
import type { Sql } from "../../../src/database/types.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { createWriting } from "../../../src/texts/port/write.ts"
import { picturesThat } from "../../core/written.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { listed } from "../../measuring/record/listed.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import { openStandIn, type Script, well } from "../stand-in.ts"

setDefaultTimeout(60_000)

const OWN_APP = "30077"
const TEXTS = {
  name: "Tea Timer",
  subtitle: "Steep it right",
  promotionalText: "Now with {n} kinds of oolong.",
  description:
    "Steep your tea to the minute.\n\nChoose what you drink, and the timer tells you when it is done. That is all.",
}
const GERMAN = {
  name: "Tea Timer",
  subtitle: "Tee genau auf die Minute",
  promotionalText: "Jetzt mit {n} Sorten Oolong.",
  description:
    "Dein Tee zieht auf die Minute genau.\n\nWähle aus, was du trinkst, und die Uhr sagt dir, wann er fertig ist. " +
    "Mehr nicht.",
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
  service = openService({ sql, write, pictures: picturesThat("are read") })
  await record(sql, [listed(new Date(Date.now() - 86_400_000), TEXTS, { id: OWN_APP })])
})

function play(...script: Script[]) {
  standIn.requests.splice(0)
  standIn.script.splice(0, standIn.script.length, ...script)
}
const good = (rest: object = {}) =>
  well(() => ({ ...GERMAN, keywords: ["teezeit", "tee, uhr"], captions: ["Ruhig"], ...rest }))

async function opened({ audit = true, ...options }: Parameters<Service["workspace"]>[0] & { audit?: boolean } = {}) {
  const workspaceId = await service.workspace({ plan: "pro", overrides: { ratePerSecond: 1e6 }, ...options })
  const key = await service.key(workspaceId)
  const tracked = { workspaceId, iosId: OWN_APP, countries: ["us"], keywords: ["tea timer"], origin: "own" }
  const appId = await trackOwn(sql, tracked)
  const rows = ["us", "de", "at", "jp"].map((country) => ({
    country,
    state: country === "jp" ? "not_sold" : "sold",
    ratings: 5,
  }))
  if (audit)
    await sql`
      insert into storefront_audit (app_id, started_at, storefronts, priority, finished_at, failed, rows)
      select ios_app, now() - interval '2 hours', '{us,de,at,jp}'::text[], 1, now() - interval '1 hour', false,
        ${sql.json(rows)}::jsonb
      from tracked_app
      where id = ${appId}
      on conflict do nothing`
  const get = (query: string, target = service) => target.call(`/v1/apps/${appId}/localize?${query}`, { key })
  const polled = async (query: string) => {
    for (;;) {
      const answer = await get(`${query}&poll=true`)
      if (answer.status !== 202) return answer
      await Bun.sleep(20)
    }
  }
  const used = async () => {
    const [row] = await sql<{ used: number }[]>`
      select coalesce(sum(used), 0)::int as used
      from allowance_used
      where workspace_id = ${workspaceId} and allowance like 'listing%'`
    return row!.used
  }
  return { get, polled, used, appId }
}

test("the first call starts a translation, later calls return it, and only one AI write is charged", async () => {
  const { get, polled, used } = await opened()
  const polledOnce = Promise.withResolvers<void>()
  play({ ...good(), after: polledOnce.promise } as Script)
  const first = await get("locale=de_de")
  expect([first.status, first.body]).toMatchObject([
    202,
    { state: "pending", locale: "de-DE", eta: 20, storefronts: ["de", "at"] },
  ])
  expect((await get("locale=de-DE&poll=true")).status).toBe(202)
  polledOnce.resolve()
  const { status, body } = await polled("locale=de_DE")
  expect([status, body.state, body.source.country, body.source.locale]).toEqual([200, "done", "us", "en-US"])
  expect(body.fields.map(({ field, text, kept: keptReason }: never) => [field, text, keptReason])).toEqual(
    Object.entries(GERMAN).map(([field, text]) => [field, text, null]),
  )
  expect(body.keywords).toEqual([
    {
      term: "teezeit",
      measured: false,
      popularity: null,
      popularityLow: null,
      popularityHigh: null,
      popularitySource: null,
    },
  ])
  expect([body.shots, body.written.by, body.written.model]).toEqual([null, "model", "m-1"])
  const repeated = await get("locale=de-de")
  expect([repeated.status, repeated.body]).toEqual([200, body])
  expect([await used(), standIn.requests.length]).toEqual([1, 1])
  expect(JSON.stringify(standIn.requests[0]!.body)).not.toMatch(/temperature|top_p|30077/)
})

slow("a field whose translation lacks its placeholder twice keeps the page's text", async () => {
  const { get, polled } = await opened()
  play(good({ promotionalText: "Jetzt mit Sorten Oolong." }))
  await get("locale=de_at")
  const { body } = await polled("locale=de_at")
  expect(body.fields[2]).toMatchObject({ text: TEXTS.promotionalText, kept: expect.stringContaining("{n}") })
  expect(body.written.dropped).toContainEqual({ what: "field", rule: "kept_marks", count: 1 })
  expect(standIn.requests.length).toBe(2)
  const other = await opened()
  play(good({ promotionalText: "Jetzt mit Sorten Oolong." }), good())
  await other.get("locale=de_de")
  expect((await other.polled("locale=de_de")).body.fields[2]).toMatchObject({ kept: null })
})

slow("a failed translation is refunded, is reported once and leaves no job", async () => {
  const { get, polled, used } = await opened()
  play({ raw: "<html>" })
  await get("locale=de_de")
  expect((await polled("locale=de_de")).body.error).toBe("ai_failed")
  expect((await get("locale=de_de&poll=true")).body.error).toBe("no_job")
  expect(await used()).toBe(0)
  play(good())
  await get("locale=de_de")
  expect([(await polled("locale=de_de")).status, await used()]).toEqual([200, 1])
})

slow("the Free plan includes one locale in total, and a failed translation does not count", async () => {
  const { get, polled, used } = await opened({ plan: "free", pack: 1_000 })
  play({ raw: "<html>" })
  await get("locale=de_de")
  await Bun.sleep(300)
  play(
    good({
      description: TEXTS.description,
      subtitle: TEXTS.subtitle,
      promotionalText: TEXTS.promotionalText,
      keywords: [],
    }),
  )
  expect((await get("locale=en_us")).status).toBe(202)
  expect([(await polled("locale=en_us")).status, await used()]).toEqual([200, 1])
  const refused = await get("locale=de_de")
  expect([refused.status, refused.body]).toMatchObject([
    429,
    { error: "localize_quota", limit: 1, used: 1, period: "total" },
  ])
  const pro = await opened({ overrides: { ratePerSecond: 1e6, listingWrites: 0 } })
  expect((await pro.get("locale=de_de")).body).toMatchObject({ error: "localize_quota", limit: 0, period: "month" })
})

slow("the next poll resumes a translation whose process ended; a day later the translation is abandoned", async () => {
  const { get, polled, used, appId } = await opened()
  play({ ...good(), afterMs: 30_000 } as Script)
  const { write, stop } = createWriting({
    sql,
    log: silentLog,
    now: () => new Date(),
    randomBytes,
    fetch: (url: string, init: RequestInit) => fetch(url, init),
    settings: {
      url: standIn.url,
      api: "chat",
      model: "m-1",
      key: undefined,
      contextTokens: 1e5,
      tokensADay: 1e12,
      atOnce: 2,
    },
  })
  const ending = openService({ sql, write })
  await get("locale=de_de", ending)
  await Bun.sleep(100)
  await stop()
  play(good())
  expect([(await polled("locale=de_de")).status, await used()]).toEqual([200, 1])
  await sql`delete from writer_text where kind = 'listing_translation'`
  await sql`update listing_translation set begun_at = now() - interval '25 hours' where app_id = ${appId}`
  expect([(await get("locale=de_de&poll=true")).body.error, await used()]).toEqual(["no_job", 0])
})

test("captions of screenshots are included on request without an additional charge", async () => {
  const { get, polled, used } = await opened()
  play(good())
  await get("locale=de_de")
  await polled("locale=de_de")
  await get("locale=de_de&shots=true")
  const { body } = await polled("locale=de_de&shots=true")
  expect(body.shots).toEqual([1, 2].map((position) => ({ position, source: "", text: "" })))
  expect(await used()).toBe(1)
})

test("localize_listing is refused without an audit, storefront, valid locale, AI provider or known job", async () => {
  const scene = await opened()
  const error = async (query: string, target?: Service) => (await scene.get(query, target)).body.error
  expect(await error("locale=ja_jp")).toBe("no_storefront")
  expect(await error("locale=xx_yy")).toBe("no_storefront")
  for (const locale of ["de", "de_deu", "deutsch", "d3_de", ""])
    expect([locale, await error(`locale=${locale}`)]).toEqual([locale, "bad_locale"])
  expect(await error("locale=de_de&poll=true")).toBe("no_job")
  expect([await error("locale=de_de", openService({ sql })), await scene.used()]).toEqual(["ai_not_configured", 0])
  await sql`delete from storefront_audit`
  expect(await error("locale=de_de")).toBe("no_audit")
})
