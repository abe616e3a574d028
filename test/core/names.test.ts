import { beforeAll, describe, expect, setDefaultTimeout } from "bun:test"
import { deriveFindings } from "../../src/alerts/findings.ts"
import { catalog } from "../../src/catalog.ts"
import type { Sql } from "../../src/database/types.ts"
import type { Observation } from "../../src/kinds.ts"
import { addDays, dayOf } from "../../src/lib/days.ts"
import { listTracked } from "../../src/tracking/apps.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { charted } from "../measuring/record/charted.ts"
import { listed } from "../measuring/record/listed.ts"
import { appsReading, reading } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { openService, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"

setDefaultTimeout(120_000)

const OWN = "10001"
const RIVALS = ["20001", "20002", "20003"]
const APPS = [...RIVALS, OWN]
const JAPANESE = /[\u3040-\u30ff\u3400-\u9fff]/
const NOW = new Date()
const DAY = dayOf(NOW)
/** The day before yesterday and yesterday; the changes lie between them. */
const [BEFORE, LAST] = [addDays(DAY, -2), addDays(DAY, -1)]

/** Returns the app's name and icon in a storefront. The icon's URL contains the storefront's code. */
const nameIn = (storefront: string) => (id: string) => ({
  id,
  name: storefront === "jp" ? `お茶の時間 ${id}` : storefront === "us" ? `Tea ${id}` : `Tee ${storefront} ${id}`,
  icon: `https://icons.example/${storefront}/${id}.png`,
  genre: "6015",
})

/**
 * Records everything measured in a storefront: ranks and charts of two days, and look-ups and pages that list other
 * apps.
 */
function readingsOf(storefront: string, hour: number): Observation[] {
  const at = (day: string) => `${day}T0${hour}:00:00Z`
  const apps = APPS.map(nameIn(storefront))
  const results = (ids: readonly string[]) => ids.map(nameIn(storefront))
  const page = (id: string, row: readonly string[]) =>
    listed(at(LAST), { ...nameIn(storefront)(id), similar: results(row), moreByDeveloper: [] }, { id, storefront })
  return [
    reading("tea", at(BEFORE), [], { storefront, depth: 50, results: results([OWN, ...RIVALS]) }),
    reading("tea", at(LAST), [], { storefront, depth: 50, results: results(APPS) }),
    charted(at(BEFORE), [], { storefront, depth: 4, apps: results([OWN, ...RIVALS]) }),
    charted(at(LAST), [], { storefront, depth: 4, apps }),
    appsReading(at(LAST), apps, { storefront }),
    page(OWN, RIVALS),
    page(RIVALS[0]!, [OWN, ...RIVALS.slice(1)]),
    page(RIVALS[0]!, [OWN, ...RIVALS.slice(1)]),
  ]
}

let sql: Sql
let service: Service

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, now: () => NOW })
  // Japan's readings are the latest, some at the same moment
  const { refused } = await record(
    sql,
    [...readingsOf("us", 3), ...readingsOf("jp", 3), ...readingsOf("jp", 5)],
    () => NOW,
  )
  expect(refused).toEqual([])
})

interface Tracked {
  app: string
  workspaceId: number
  key: string
}

/** Tracks the app in a new workspace, as if for 30 days. Returns what its readings show. */
async function track(countries: string[], name?: string): Promise<Tracked> {
  const workspaceId = await service.workspace({ plan: "studio", overrides: { ratePerSecond: 1e6 } })
  const key = await service.key(workspaceId)
  const input = { workspaceId, iosId: OWN, countries, keywords: ["tea"], origin: "own" as const, ...(name && { name }) }
  const app = await trackOwn(sql, input)
  await sql`update tracked_app set created_at = now() - interval '30 days' where id = ${app}`
  await sql`update tracked_term set added_at = now() - interval '30 days' where app_id = ${app}`
  for (const storefront of countries)
    await sql.begin((tx) => deriveFindings(tx, [{ platform: "ios", storefront, subject: OWN }], NOW))
  return { app, workspaceId, key }
}

/** Returns the path of every reading call of the catalogue, with its input. */
function readsOf(app: string): string[] {
  const needs: Record<string, string[]> = {
    search: ["q=tea", "q=tee", `q=${OWN}`, `q=${RIVALS[0]}`],
    search_reviews: ["q=tea"],
    // needs a language model, which is not configured here
    draft_review_reply: [],
    // no assistant is configured here
    start_ai_check: [],
    draft_listing: [],
    localize_listing: [],
    check_rank: [`app=${RIVALS[0]}&term=tea`],
    get_keyword_difficulty: ["term=tea"],
    hive_research_keyword: ["seed=tea"],
    hive_get_keyword_gap: [`ids=${RIVALS.slice(0, 5).join()}`],
    hive_resolve_app: ["q=tea", `q=${RIVALS[0]}`],
    hive_find_apps: ["rankMax=200", "text=tea"],
    fetch: [`id=app:${app}`, `id=kw:${app}:us:tea`, ...RIVALS.map((id) => `id=rival:${app}:${id}`)],
  }
  return catalog
    .filter(({ id, method }) => method === "GET" && id !== "get_job")
    .flatMap(({ id, path, hive }) => {
      const inPath = {
        ":appId": hive ? RIVALS[0]! : app,
        ":rivalId": RIVALS[0]!,
        ":id": RIVALS[0]!,
        ":publisherId": "1",
        ":term": "tea",
      }
      const address = `/v1${Object.entries(inPath).reduce((path, [name, value]) => path.replace(name, value), path)}`
      return (needs[id] ?? [""]).map((query) => `${address}?${query}`)
    })
}

describe("an app that is tracked only in the United States", () => {
  slow("an app tracked only in the United States never shows an app with a Japanese name", async () => {
    const { app, workspaceId, key } = await track(["us"])
    const paths = readsOf(app)
    expect(paths.length).toBeGreaterThan(30)
    const answers: { path: string; status: number; text: string }[] = []
    for (const path of paths) answers.push({ path, ...(await service.call(path, { key })) })
    expect(
      answers.filter(({ status }) => status >= 500 || status === 400).map(({ path, text }) => path + text),
    ).toEqual([])
    expect(answers.filter(({ text }) => JAPANESE.test(text)).map(({ path, text }) => [path, text])).toEqual([])
    expect(answers.filter(({ text }) => text.includes("icons.example/jp")).map(({ path }) => path)).toEqual([])
    // every call that should name apps does so
    const naming = answers.filter(({ text }) => text.includes("Tea 20001")).map(({ path }) => path.split("?")[0])
    for (const part of [
      "competition",
      "rivals",
      "page",
      "featuring",
      "chart-movers",
      "alerts",
      "fetch",
      "search",
      "market",
    ])
      expect([part, naming.some((path) => path!.endsWith(part))]).toEqual([part, true])
    const written = await previews({ app, key })
    expect(written.filter((text) => JAPANESE.test(text))).toEqual([])
    expect(JSON.stringify(await listTracked(sql, workspaceId))).not.toMatch(JAPANESE)
  })

  slow("the public page of an app uses the name of the storefront that it shows", async () => {
    const ownApp = await track(["us"])
    expect(await sharedTitle(ownApp, "us")).toContain("Tea 10001")
    expect(await sharedTitle(ownApp, "us")).not.toMatch(JAPANESE)
    const both = await track(["us", "jp"])
    expect(await sharedTitle(both, "jp")).toContain("お茶の時間 10001")
    expect(await sharedTitle(both, "de")).toContain("Tea 10001")
  })
})

slow("an answer uses the app names of its storefront, or else of the first tracked storefront", async () => {
  const { app, key } = await track(["jp", "us"])
  const get = (path: string) => service.call(path, { key })
  const names = async (country: string) => {
    const { body: rivals } = await get(`/v1/apps/${app}/rivals?country=${country}`)
    const { body: movers } = await get(`/v1/apps/${app}/chart-movers?country=${country}&genre=6015`)
    const { body: alerts } = await get("/v1/alerts?limit=100")
    const rivalAlerts = alerts.alerts.filter(
      (alert: { appId: string; country: string }) => alert.appId === app && alert.country === country,
    )
    return [
      rivals.rivals[0].name,
      movers.app.name,
      movers.fallers[0]?.name ?? movers.app.name,
      rivalAlerts[0].rivalName,
    ]
  }
  expect(await names("us")).toEqual(["Tea 20001", "Tea 10001", "Tea 10001", expect.stringMatching(/^Tea 2000/)])
  expect(await names("jp")).toEqual([
    "お茶の時間 20001",
    "お茶の時間 10001",
    "お茶の時間 10001",
    expect.stringMatching(JAPANESE),
  ])
  const { body } = await get(`/v1/apps/${app}/rivals/${RIVALS[0]}?country=de`)
  expect([body.name, body.icon]).toEqual(["お茶の時間 20001", "https://icons.example/jp/20001.png"])
  expect((await get(`/v1/apps/${app}`)).body).toMatchObject({ name: "お茶の時間 10001" })
})

slow("an app name that a user has set is used in every storefront", async () => {
  const ownApp = await track(["us", "jp"], "Ours")
  for (const country of ["us", "jp", "de"]) expect(await sharedTitle(ownApp, country)).toContain("Ours")
  expect((await service.call(`/v1/apps/${ownApp.app}`, { key: ownApp.key })).body.name).toBe("Ours")
})

/** Returns the previews of writes that name the app. */
async function previews({ app: appId, key }: Pick<Tracked, "app" | "key">): Promise<string[]> {
  const rivals = [`ios:${RIVALS[0]}`]
  const writes: [string, object][] = [
    ["add_rivals", { rivals }],
    ["remove_rivals", { rivals }],
    ["export_data", { dataset: "keywords" }],
    ["create_share_link", { country: "us" }],
    ["add_keywords", { keywords: ["mate"] }],
  ]
  const answers = await Promise.all(
    writes.map(([action, args]) =>
      service.call("/v1/actions", { key, method: "POST", body: { action, args: { appId, ...args } } }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(writes.map(() => 200))
  return answers.map(({ text }) => text)
}

async function sharedTitle({ app: appId, key }: Tracked, country: string): Promise<string> {
  const body = { action: "create_share_link", args: { appId, country } }
  const previewed = await service.call("/v1/actions", { key, method: "POST", body })
  const { confirmToken } = previewed.body
  const created = await service.call("/v1/actions/confirm", { key, method: "POST", body: { confirmToken } })
  const { text } = await service.call(new URL(created.body.result.url).pathname)
  return /<title>(.*?)<\/title>/.exec(text)?.[1] ?? ""
}
