import { describe, expect, setDefaultTimeout } from "bun:test"
import { ROLES, type Role, scopesOf } from "../../../src/access/people/roles.ts"
import type { Scope } from "../../../src/access/scopes.ts"
import { catalog } from "../../../src/catalog.ts"
import type { Operation } from "../../../src/core/operation.ts"
import { readTree } from "../../../src/database/assets.ts"
import type { Sql } from "../../../src/database/types.ts"
import { pageOperations } from "../../../src/pages/app/operations.ts"
import { SOURCES } from "../../../src/sources.ts"
import { freshDatabase } from "../../database.ts"
import { beforeSlow, LONG, slow } from "../../long.ts"
import { appPages } from "../../pages/app-scene.ts"
import { NO_PORTS } from "../../pages/settings/ports.ts"
import { openService, type Service } from "../../service.ts"
import { type Browser, browserOf, type Page } from "../sign-in/browser.ts"
import { anotherAddress, type Member, memberOf } from "./scene.ts"
import { connectAll, FOREIGN, fillWorkspace, MONEY, SECOND, type WalkWorkspace } from "./walk-world.ts"

// Walks every page that an owner can reach and every operation, as each role, without a sign-in, and as people of
// another workspace. The manual's tables define which role may make which call; roles.test.ts compares them.

setDefaultTimeout(300_000)

const APP_STORE_IDS: [string, string] = ["1437843273", "2000000002"]

let sql: Sql
let service: Service
let ownWorkspace: WalkWorkspace
let stranger: Member
let limited: Member
const members = new Map<Role, Member>()
/** Owners and editors see everything that a viewer sees, so a short run leaves them out. */
const WALKED: readonly Role[] = LONG ? ROLES : ["viewer", "viewer-without-money"]
/** All pages, as the operator sees them. */
let crawled: Visited[]
/** The addresses of all pages. */
let pages: string[]

beforeSlow(async () => {
  sql = await freshDatabase()
  service = openService({ sql, settingsPorts: NO_PORTS })
  const open = async (workspace: string, mark: string, iosIds: [string, string]) => {
    const workspaceId = await service.workspace({ name: workspace, plan: "enterprise", explorer: true })
    // The first person of the server is its operator.
    const first = await memberOf(service, workspaceId, "owner")
    const filled = await fillWorkspace(sql, { workspaceId, workspace, mark, iosIds })
    await connectAll(sql, filled)
    return { first, filled }
  }
  const opened = await open("walk own", "ownmark", APP_STORE_IDS)
  const other = await open("walk foreignmark", "foreignmark", ["2000000003", "2000000004"])
  ownWorkspace = opened.filled
  stranger = other.first
  for (const role of ROLES) members.set(role, await memberOf(service, ownWorkspace.workspaceId, role))
  limited = await memberOf(service, ownWorkspace.workspaceId, "viewer", { apps: [ownWorkspace.app] })
  crawled = await crawl(opened.first.browser)
  pages = crawled.map(({ path }) => path)
})

const memberIn = (role: Role) => members.get(role) as Member

/**
 * Follows the links of all pages, starting at the front page. Returns each page's address once, in the form of its
 * link.
 */
async function crawl(browser: Browser): Promise<Visited[]> {
  const waiting = ["/app", "/app/add", "/app/changes", "/app/settings", "/approve", `/approve/${ownWorkspace.approval}`]
  waiting.push(...appPages("/app", ownWorkspace.app, "ownmark term"))
  const found = new Map<string, Visited>()
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const kind = kindOf(path)
    if (found.has(kind)) continue
    const page = await browser.open(path)
    found.set(kind, { path, page })
    for (const [, href = ""] of page.text.matchAll(/href="(\/(?:app|approve)[^"#]*)/g)) {
      const link = href.replaceAll("&amp;", "&")
      if (!link.startsWith("/app/sample") && link !== "/approve/sample") waiting.push(link)
    }
  }
  return [...found.values()]
}

/**
 * Returns the kind of a page. Pages of one kind differ in their values only. A long run also distinguishes sets of
 * parameters.
 */
function kindOf(path: string): string {
  const { pathname, searchParams } = new URL(path, "http://here.invalid")
  return LONG ? `${pathname}?${[...searchParams.keys()].sort()}` : pathname
}

interface Visited {
  path: string
  page: Page
}

/** Opens every page, once for each person. */
const visit = memoize(async ({ browser }: Pick<Member, "browser">): Promise<Visited[]> => {
  const visited = []
  for (const path of pages) visited.push({ path, page: await browser.open(path) })
  expect(visited.filter(({ page }) => page.status >= 500)).toEqual([])
  return visited
})

function memoize<Of extends object, Result>(make: (key: Of) => Promise<Result>) {
  const cache = new Map<Of, Promise<Result>>()
  return (key: Of): Promise<Result> => {
    const present = cache.get(key) ?? make(key)
    cache.set(key, present)
    return present
  }
}

/** Returns the pages whose text matches, apart from text that repeats the page's address. */
async function pagesWith(member: Member, words: RegExp): Promise<string[]> {
  return (await visit(member)).flatMap(({ path, page }) => {
    const [, query = ""] = path.split("?")
    const echoes = [query.replaceAll("&", "&amp;"), ...new URLSearchParams(query).values()].filter(
      (echo) => echo !== "",
    )
    const text = echoes.reduce((rest, echo) => rest.replaceAll(echo, ""), page.text)
    return words.test(text) ? [`${path}: ${around(text, words)}`] : []
  })
}

function around(text: string, words: RegExp): string {
  const at = text.search(words)
  return text.slice(Math.max(0, at - 60), at + 40).replaceAll(/\s+/g, " ")
}

/**
 * Sample inputs of the catalog's operations, and of those operations that only pages call, as far as the sample has
 * them.
 */
const samples = new Map(
  ["fixtures/sandbox", "fixtures/pages"].flatMap((folder) =>
    [...readTree(folder, ".json")].map(([file, text]) => [file.replace(".json", ""), JSON.parse(text).input]),
  ),
)

const PAGE_OPERATIONS = pageOperations(SOURCES).all
const operations = [
  ...catalog,
  ...PAGE_OPERATIONS.filter(({ id }) => !catalog.some((operation) => operation.id === id)),
]

/** Returns the input with which an operation answers about an app. */
function inputOf({ id, path }: Operation, { app, job, approval }: WalkWorkspace): Record<string, unknown> {
  if (id === "get_job") return { jobId: job }
  if (id === "settle_approval") return { id: approval, verdict: "declined" }
  const input = samples.get(id) ?? { ...(path.includes(":appId") && { appId: "app_" }), ...PAGE_INPUTS[id] }
  return String(input.appId).startsWith("app_") ? { ...input, appId: app } : input
}

/** Inputs of operations that forms call and that are not in the sample. Default: only the app. */
const PAGE_INPUTS: Record<string, Record<string, unknown>> = {
  get_made_change: { requestId: "00000000-0000-4000-8000-000000000000" },
  find_store_apps: { q: "tea" },
  list_found_apps: { country: "us", order: "rank" },
  list_store_faces: { apps: [], country: "us" },
  preview_edit: samples.get("preview_action"),
  confirm_edit: samples.get("confirm_action"),
}

interface Called {
  id: string
  code: string | null
  text: string
}

/** Makes every call in the same way as the pages of a person do. */
async function callAll({ personId }: Member, workspace: WalkWorkspace, selected = operations): Promise<Called[]> {
  const [membership] = await sql<{ keyId: number }[]>`
    select key_id as "keyId"
    from membership
    where person_id = ${personId}`
  const called = []
  const wrong: string[] = []
  for (const operation of selected) {
    const answer = await service.app.invoke({
      surface: "pages",
      requestId: crypto.randomUUID(),
      credentials: { grant: membership!.keyId },
      keyInUrl: false,
      address: "192.0.2.1",
      target: async () => ({ operation, input: inputOf(operation, workspace) }),
    })
    const { fault } = answer
    if (fault?.code === "invalid_arguments") wrong.push(`${operation.id}: ${JSON.stringify(fault.extra)}`)
    called.push({ id: operation.id, code: fault?.code ?? null, text: JSON.stringify(answer) })
  }
  expect(wrong).toEqual([])
  return called
}

/** Makes every call about this workspace, once for each person. */
const call = memoize((member: Member) => callAll(member, ownWorkspace))

const withWords = (called: readonly Called[], words: RegExp) =>
  called.flatMap(({ id, text }) => (words.test(text) ? [`${id}: ${around(text, words)}`] : []))

describe("money", () => {
  slow("a viewer reads the money of the workspace on pages and in calls", async () => {
    const paths = (await pagesWith(memberIn("viewer"), MONEY)).map((page) => page.split(":")[0])
    const base = `/app/apps/${ownWorkspace.app}`
    expect(paths).toEqual(expect.arrayContaining(["/app/changes", "/app/alerts", `${base}/revenue`, `${base}/ads`]))
    const calls = withWords(await call(memberIn("viewer")), MONEY).map((call) => call.split(":")[0])
    const money = ["get_revenue", "get_pricing", "list_campaigns", "list_ads_keywords", "list_writes", "list_alerts"]
    expect(calls).toEqual(expect.arrayContaining([...money, "get_job"]))
  })

  slow("no page and no call shows money to a person without the scopes for it", async () => {
    const member = memberIn("viewer-without-money")
    expect(await pagesWith(member, MONEY)).toEqual([])
    expect(withWords(await call(member), MONEY)).toEqual([])
  })
})

/**
 * Operations that need the scope of the write that they handle, which is the waiting ads write or the write of the
 * sample.
 */
const NEEDED: Record<string, Scope> = {
  settle_approval: "ads:write",
  preview_action: "track:write",
  preview_edit: "track:write",
}

describe("rights", () => {
  slow("each role can make exactly the calls whose scope it has", async () => {
    for (const role of WALKED) {
      const refused = (await call(memberIn(role))).filter(({ code }) => code === "scope_required")
      const lacking = operations.filter((operation) => {
        const scope = NEEDED[operation.id] ?? operation.scope
        return scope !== null && !scopesOf(role).includes(scope)
      })
      expect([role, refused.map(({ id }) => id)]).toEqual([role, lacking.map(({ id }) => id)])
    }
  })
})

describe("other workspaces", () => {
  slow("no page and no API answer contains data of another workspace, whatever the role", async () => {
    for (const role of WALKED) {
      expect([role, await pagesWith(memberIn(role), FOREIGN)]).toEqual([role, []])
      expect([role, withWords(await call(memberIn(role)), FOREIGN)]).toEqual([role, []])
    }
    expect((await pagesWith(stranger, FOREIGN)).length).toBeGreaterThan(5)
  })

  slow("an owner of another workspace gets no data with this workspace's URLs and ids", async () => {
    const ownMarks = /ownmark|secondmark/i
    expect(await pagesWith(stranger, ownMarks)).toEqual([])
    for (const { path, page } of await visit(stranger))
      if (/\/(?:app|ap)_/.test(path)) expect([path, page.status]).toEqual([path, 404])
    const called = await call(stranger)
    expect(withWords(called, ownMarks)).toEqual([])
    const codes = new Map(called.map(({ id, code }) => [id, code]))
    for (const { id } of catalog.filter(({ subject }) => subject))
      expect([id, codes.get(id)]).toEqual([id, "not_found"])
    expect(codes.get("get_job")).toBe("job_not_found")
    expect(called.find(({ id }) => id === "settle_approval")?.text).toContain('"settled":false')
  })

  slow("pages redirect a visitor without a session to the sign-in, and calls without a key are refused", async () => {
    const nobody = browserOf(service, { from: anotherAddress() })
    for (const { path, page } of await visit({ browser: nobody })) {
      const { status, headers } = page
      expect([path, status, headers.get("location")?.split("?")[0]]).toEqual([path, 303, "/sign-in"])
    }
    for (const { method, path } of catalog) {
      const { status, body } = await service.call(`/v1${path.replaceAll(/:\w+/g, ownWorkspace.app)}`, { method })
      expect([path, status, body.error]).toEqual([path, 401, "missing_api_key"])
    }
  })
})

slow("a person limited to some apps sees no data of other apps", async () => {
  expect(await pagesWith(limited, SECOND)).toEqual([])
  for (const { path, page } of await visit(limited))
    if (path.includes(`/${ownWorkspace.secondApp}`)) expect([path, page.status]).toEqual([path, 403])
  expect(withWords(await call(limited), SECOND)).toEqual([])
  const appOperations = catalog.filter(({ subject }) => subject)
  const codes = new Map(
    (await callAll(limited, { ...ownWorkspace, app: ownWorkspace.secondApp }, appOperations)).map(({ id, code }) => [
      id,
      code,
    ]),
  )
  for (const { id, scope } of appOperations) {
    const isRead = scope === null || scopesOf("viewer").includes(scope)
    expect([id, codes.get(id)]).toEqual([id, isRead ? "app_not_allowed" : "scope_required"])
  }
  expect((await pagesWith(memberIn("viewer"), SECOND)).length).toBeGreaterThan(3)
})
