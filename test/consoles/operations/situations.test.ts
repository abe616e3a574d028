import { beforeAll, describe, expect, test } from "bun:test"
import type { Scope } from "../../../src/access/scopes.ts"
import type { Sql } from "../../../src/database/types.ts"
import { freshDatabase } from "../../database.ts"
import { listed } from "../../measuring/record/listed.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

const IOS = "310633997"
/** The operations that read a workspace's own accounts: the tool, the path and the kind of account. */
const READS = [
  ["get_revenue", "revenue", "app-store-connect"],
  ["get_subscriptions", "subscriptions", "app-store-connect"],
  ["get_funnel", "funnel", "app-store-connect"],
  ["get_pricing", "pricing", "app-store-connect"],
  ["get_country_prices", "country-prices", "app-store-connect"],
  ["get_change_impact", "change-impact", "app-store-connect"],
  ["list_campaigns", "campaigns", "apple-ads"],
  ["list_ads_keywords", "ads-keywords", "apple-ads"],
  ["list_ads_search_terms", "ads-search-terms", "apple-ads"],
  ["list_ads_commands", "ads-commands", "apple-ads"],
  ["get_search_popularity", "search-popularity", "apple-ads"],
] as const
type Read = (typeof READS)[number]

let sql: Sql
let service: Service
let number = 0
beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
})

interface Owner {
  workspaceId: number
  key: string
  appId: string
}

async function owner(rest: object = { iosId: IOS }, scopes?: Scope[]): Promise<Owner> {
  const workspaceId = await service.workspace({ plan: "pro" })
  const tracked = { workspaceId, countries: ["us"], keywords: ["tea"], origin: "own" as const, ...rest }
  const appId = await trackOwn(sql, tracked)
  return { workspaceId, appId, key: await service.key(workspaceId, scopes && { scopes }) }
}

async function connect(
  { workspaceId, appId }: Owner,
  kind: string,
  rest: { app?: string; state?: string; why?: string } = {},
) {
  const { app = IOS, state = "ok", why = null } = rest
  const id = `ac_${String(++number).padStart(18, "0")}`
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, sealed, next_at, state, why)
    values (${id}, ${workspaceId}, ${kind}, 'key …1', '1', 'v1.a.b.c', null, ${state}, ${why})`
  await sql`
    insert into account_app (account_id, outside_id, sku, name, bundle_id, app_id)
    values (${id}, ${app}, 'TEA01', 'Tea', '', ${app === IOS ? appId : null})`
}

/**
 * Calls over REST and as a tool, checks that both refuse in the same way and without charge, and returns the refusal.
 */
async function refusal([tool, path]: Read, { appId, key }: Owner): Promise<[number, string, string]> {
  const rest = await service.call(`/v1/apps/${appId}/${path}`, { key })
  const answer = await service.tool(tool, { appId }, { key })
  expect([answer.result.isError, rest.credits.used]).toEqual([true, 0])
  expect(JSON.parse(answer.result.content[0].text)).toMatchObject({
    error: rest.body.error,
    message: rest.body.message,
  })
  expect(JSON.parse(answer.result.content[0].text).detail).toBe(rest.body.detail)
  return [rest.status, rest.body.error, rest.body.detail]
}

describe.each(READS)("%s", (...read) => {
  const [, , kind] = read
  const other = kind === "apple-ads" ? "app-store-connect" : "apple-ads"

  test("the read is refused without an account of its kind; the error names the command to connect it", async () => {
    const tenant = await owner()
    expect(await refusal(read, tenant)).toEqual([404, "not_connected", expect.stringContaining(`appmeter account add`)])
    await connect(tenant, other)
    expect(await refusal(read, tenant)).toEqual([404, "not_connected", expect.stringContaining(kind)])
  })

  test("the read is refused if the account does not have the app", async () => {
    const tenant = await owner()
    await connect(tenant, kind, { app: "999999" })
    const [status, error, detail] = await refusal(read, tenant)
    // Popularity is per storefront, whether the app is advertised or not.
    expect([status, error]).toEqual([404, read[0] === "get_search_popularity" ? "not_measured" : "not_connected"])
    expect(detail.length).toBeGreaterThan(20)
  })

  test("the read is refused for an app that is only on Google Play", async () => {
    const tenant = await owner({ androidPkg: "com.example.tea" })
    await connect(tenant, kind)
    expect((await refusal(read, tenant)).slice(0, 2)).toEqual([400, "unsupported_platform"])
  })

  test("the read is refused before the first reading; the error names the account's problem, if any", async () => {
    const tenant = await owner()
    await connect(tenant, kind)
    expect((await refusal(read, tenant)).slice(0, 2)).toEqual([404, "not_measured"])
    const stopped = await owner()
    await connect(stopped, kind, { state: "revoked", why: "the key is refused" })
    const [status, error, detail] = await refusal(read, stopped)
    expect([status, error]).toEqual([404, "not_measured"])
    // get_change_impact first needs a change of the page, so its refusal names the missing change instead.
    if (read[0] !== "get_change_impact") expect(detail).toContain("the key is refused")
  })

  test("the read is refused without the right, before anything about accounts is revealed", async () => {
    const tenant = await owner({ iosId: IOS }, ["apps:read"])
    expect((await refusal(read, tenant)).slice(0, 2)).toEqual([403, "scope_required"])
  })
})

test("get_change_impact fails as not_measured until a change of the page was seen", async () => {
  const tenant = await owner()
  await connect(tenant, "app-store-connect")
  await record(sql, [listed("2026-06-19T06:00:00Z")], () => new Date("2026-06-20T00:00:00Z"))
  expect((await refusal(READS[5], tenant)).slice(0, 2)).toEqual([404, "not_measured"])
})
