import { beforeAll, describe, expect, test } from "bun:test"
import { pauseKey } from "../../src/access/key-register.ts"
import { freshDatabase } from "../database.ts"
import { catalogWithSamples, fixturesWithSamples } from "../samples.ts"
import { type CallOptions, openService, type Service } from "../service.ts"

// Each request has two faults; the answer is the fault that is checked first.

let service: Service
let workspace: number
const keys: Record<string, string> = {}

beforeAll(async () => {
  const sql = await freshDatabase()
  service = openService({ sql, catalog: catalogWithSamples, fixtures: fixturesWithSamples() })
  workspace = await service.workspace({ plan: "pro", overrides: { liveKeys: 10, ratePerSecond: 1_000 } })
  keys.live = await service.key(workspace)
  keys.test = await service.key(workspace, { kind: "test" })
  keys.noScopes = await service.key(workspace, { scopes: [] })
  keys.elsewhere = await service.key(workspace, { ipAllowList: ["192.0.2.1"] })
  keys.limitedToApp = await service.key(workspace)
  await sql`update api_key set app_list = '{app_mine}' where id = (select max(id) from api_key)`
  keys.paused = await service.key(workspace)
  const paused = (await sql<{ id: number }[]>`select id from api_key order by id desc limit 1`)[0]
  await pauseKey(sql, paused?.id as number)
  const slow = await service.workspace({ plan: "pro", overrides: { ratePerSecond: 0 } })
  keys.slow = await service.key(slow)
  const free = await service.workspace({ plan: "free" })
  keys.free = await service.key(free, { scopes: [] })
  const emptyWorkspace = await service.workspace({
    plan: "pro",
    explorer: true,
    overrides: { credits: 0, ratePerSecond: 1_000 },
  })
  keys.poor = await service.key(emptyWorkspace)
  keys.poorNoScopes = await service.key(emptyWorkspace, { scopes: [] })
  const spent = await service.workspace({
    plan: "pro",
    explorer: true,
    overrides: { credits: 0, ratePerSecond: 1_000 },
  })
  keys.spent = await service.key(spent)
  await sql`
    insert into allowance_used (workspace_id, allowance, period, used)
    values (${spent}, 'hive', (now() at time zone 'utc')::date, 10000)`
})

interface Case {
  name: string
  path: string
  options?: () => CallOptions
  code: string
  status: number
}

const withKey =
  (name: string, options: CallOptions = {}) =>
  () => ({ key: keys[name] as string, ...options })

const cases: Case[] = [
  { name: "key in the URL before no key", path: "/v1/apps?k=svc_live_abc", code: "key_in_url", status: 400 },
  {
    name: "key in the URL before a bad key",
    path: "/v1/apps?k=svc_test_abc",
    options: () => ({ key: "nonsense" }),
    code: "key_in_url",
    status: 400,
  },
  { name: "no key before an unknown path", path: "/v1/nowhere", code: "missing_api_key", status: 401 },
  {
    name: "no key before a wrong method",
    path: "/v1/apps",
    options: () => ({ method: "DELETE" }),
    code: "missing_api_key",
    status: 401,
  },
  {
    name: "a bad key before an unknown path",
    path: "/v1/nowhere",
    options: () => ({ key: "svc_live_x" }),
    code: "invalid_api_key",
    status: 401,
  },
  {
    name: "a paused key before its rate",
    path: "/v1/nowhere",
    options: withKey("paused"),
    code: "key_paused",
    status: 403,
  },
  {
    name: "the address before an unknown path",
    path: "/v1/nowhere",
    options: withKey("elsewhere"),
    code: "ip_not_allowed",
    status: 403,
  },
  {
    name: "the rate before an unknown path",
    path: "/v1/nowhere",
    options: withKey("slow"),
    code: "rate_limited",
    status: 429,
  },
  {
    name: "the rate before a wrong method",
    path: "/v1/apps",
    options: withKey("slow", { method: "PUT" }),
    code: "rate_limited",
    status: 429,
  },
  {
    name: "an unknown path before the plan",
    path: "/v1/nowhere",
    options: withKey("free"),
    code: "unknown_endpoint",
    status: 404,
  },
  {
    name: "a wrong method before the plan",
    path: "/v1/apps",
    options: withKey("free", { method: "PUT" }),
    code: "method_not_allowed",
    status: 405,
  },
  {
    name: "a wrong method before bad input",
    path: "/v1/apps/x/keywords?country=zz",
    options: withKey("live", { method: "POST" }),
    code: "method_not_allowed",
    status: 405,
  },
  {
    name: "bad input before the plan",
    path: "/v1/apps/x/keywords?country=zz",
    options: withKey("free"),
    code: "bad_country",
    status: 400,
  },
  {
    name: "bad input before a test key's answer",
    path: "/v1/apps/x/keywords?country=zz",
    options: withKey("test"),
    code: "bad_country",
    status: 400,
  },
  {
    name: "a test key's write before its scope",
    path: "/v1/samples",
    options: withKey("test", { method: "POST", body: { scope: "ads" } }),
    code: "test_key_read_only",
    status: 403,
  },
  {
    name: "bad input before a test key's write",
    path: "/v1/samples",
    options: withKey("test", { method: "POST", body: { scope: "no" } }),
    code: "invalid_arguments",
    status: 400,
  },
  {
    name: "the plan before the scope",
    path: "/v1/samples/studio",
    options: withKey("noScopes"),
    code: "plan_required",
    status: 403,
  },
  {
    name: "REST on Free before the scope",
    path: "/v1/apps",
    options: withKey("free"),
    code: "plan_required",
    status: 403,
  },
  {
    name: "REST on Free before a foreign app",
    path: "/v1/apps/nobody",
    options: withKey("free"),
    code: "plan_required",
    status: 403,
  },
  {
    name: "the scope before Explorer",
    path: "/v1/hive/explored",
    options: withKey("noScopes"),
    code: "scope_required",
    status: 403,
  },
  {
    name: "the scope before a foreign app",
    path: "/v1/apps/nobody",
    options: withKey("noScopes"),
    code: "scope_required",
    status: 403,
  },
  {
    name: "Explorer before credits",
    path: "/v1/hive/explored",
    options: withKey("live"),
    code: "explorer_required",
    status: 403,
  },
  {
    name: "an app off the key's list before whether it exists",
    path: "/v1/apps/nobody",
    options: withKey("limitedToApp"),
    code: "app_not_allowed",
    status: 403,
  },
  {
    name: "the scope before credits",
    path: "/v1/hive/samples/tea",
    options: withKey("poorNoScopes"),
    code: "scope_required",
    status: 403,
  },
  {
    name: "a foreign app before credits",
    path: "/v1/apps/nobody",
    options: withKey("poor"),
    code: "not_found",
    status: 404,
  },
  {
    name: "the day's Hive calls before credits",
    path: "/v1/hive/samples/tea",
    options: withKey("spent"),
    code: "daily_hive_limit",
    status: 429,
  },
  {
    name: "credits before the run",
    path: "/v1/hive/samples/broken",
    options: withKey("poor"),
    code: "credits_exhausted",
    status: 402,
  },
]

describe("a request with two faults gets the fault that is checked first", () => {
  for (const { name, path, options, code, status } of cases) {
    test(name, async () => {
      const answer = await service.call(path, options?.())
      expect([answer.status, answer.body.error]).toEqual([status, code])
    })
  }
})
