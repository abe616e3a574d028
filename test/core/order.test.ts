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
  {
    name: "a key in the URL is reported before a missing key",
    path: "/v1/apps?k=svc_live_abc",
    code: "key_in_url",
    status: 400,
  },
  {
    name: "a key in the URL is reported before an invalid key",
    path: "/v1/apps?k=svc_test_abc",
    options: () => ({ key: "nonsense" }),
    code: "key_in_url",
    status: 400,
  },
  {
    name: "a missing key is reported before an unknown path",
    path: "/v1/nowhere",
    code: "missing_api_key",
    status: 401,
  },
  {
    name: "a missing key is reported before a wrong method",
    path: "/v1/apps",
    options: () => ({ method: "DELETE" }),
    code: "missing_api_key",
    status: 401,
  },
  {
    name: "an invalid key is reported before an unknown path",
    path: "/v1/nowhere",
    options: () => ({ key: "svc_live_x" }),
    code: "invalid_api_key",
    status: 401,
  },
  {
    name: "a paused key is reported before an exceeded rate limit",
    path: "/v1/nowhere",
    options: withKey("paused"),
    code: "key_paused",
    status: 403,
  },
  {
    name: "a forbidden address is reported before an unknown path",
    path: "/v1/nowhere",
    options: withKey("elsewhere"),
    code: "ip_not_allowed",
    status: 403,
  },
  {
    name: "an exceeded rate limit is reported before an unknown path",
    path: "/v1/nowhere",
    options: withKey("slow"),
    code: "rate_limited",
    status: 429,
  },
  {
    name: "an exceeded rate limit is reported before a wrong method",
    path: "/v1/apps",
    options: withKey("slow", { method: "PUT" }),
    code: "rate_limited",
    status: 429,
  },
  {
    name: "an unknown path is reported before a plan that is too low",
    path: "/v1/nowhere",
    options: withKey("free"),
    code: "unknown_endpoint",
    status: 404,
  },
  {
    name: "a wrong method is reported before a plan that is too low",
    path: "/v1/apps",
    options: withKey("free", { method: "PUT" }),
    code: "method_not_allowed",
    status: 405,
  },
  {
    name: "a wrong method is reported before invalid input",
    path: "/v1/apps/x/keywords?country=zz",
    options: withKey("live", { method: "POST" }),
    code: "method_not_allowed",
    status: 405,
  },
  {
    name: "invalid input is reported before a plan that is too low",
    path: "/v1/apps/x/keywords?country=zz",
    options: withKey("free"),
    code: "bad_country",
    status: 400,
  },
  {
    name: "invalid input of a test key is reported before its sample answer",
    path: "/v1/apps/x/keywords?country=zz",
    options: withKey("test"),
    code: "bad_country",
    status: 400,
  },
  {
    name: "a write with a test key is reported before a missing scope",
    path: "/v1/samples",
    options: withKey("test", { method: "POST", body: { scope: "ads" } }),
    code: "test_key_read_only",
    status: 403,
  },
  {
    name: "invalid input is reported before a write with a test key",
    path: "/v1/samples",
    options: withKey("test", { method: "POST", body: { scope: "no" } }),
    code: "invalid_arguments",
    status: 400,
  },
  {
    name: "a plan that is too low is reported before a missing scope",
    path: "/v1/samples/studio",
    options: withKey("noScopes"),
    code: "plan_required",
    status: 403,
  },
  {
    name: "REST on the Free plan is reported before a missing scope",
    path: "/v1/apps",
    options: withKey("free"),
    code: "plan_required",
    status: 403,
  },
  {
    name: "REST on the Free plan is reported before an unknown app",
    path: "/v1/apps/nobody",
    options: withKey("free"),
    code: "plan_required",
    status: 403,
  },
  {
    name: "a missing scope is reported before a missing Explorer subscription",
    path: "/v1/hive/explored",
    options: withKey("noScopes"),
    code: "scope_required",
    status: 403,
  },
  {
    name: "a missing scope is reported before an unknown app",
    path: "/v1/apps/nobody",
    options: withKey("noScopes"),
    code: "scope_required",
    status: 403,
  },
  {
    name: "a missing Explorer subscription is reported before a lack of credits",
    path: "/v1/hive/explored",
    options: withKey("live"),
    code: "explorer_required",
    status: 403,
  },
  {
    name: "an app outside the key's list is reported before an unknown app",
    path: "/v1/apps/nobody",
    options: withKey("limitedToApp"),
    code: "app_not_allowed",
    status: 403,
  },
  {
    name: "a missing scope is reported before a lack of credits",
    path: "/v1/hive/samples/tea",
    options: withKey("poorNoScopes"),
    code: "scope_required",
    status: 403,
  },
  {
    name: "an unknown app is reported before a lack of credits",
    path: "/v1/apps/nobody",
    options: withKey("poor"),
    code: "not_found",
    status: 404,
  },
  {
    name: "a used-up daily Hive limit is reported before a lack of credits",
    path: "/v1/hive/samples/tea",
    options: withKey("spent"),
    code: "daily_hive_limit",
    status: 429,
  },
  {
    name: "a lack of credits is reported before an error of the operation",
    path: "/v1/hive/samples/broken",
    options: withKey("poor"),
    code: "credits_exhausted",
    status: 402,
  },
]

describe("a request with two errors gets the error that is checked first", () => {
  for (const { name, path, options, code, status } of cases) {
    test(name, async () => {
      const answer = await service.call(path, options?.())
      expect([answer.status, answer.body.error]).toEqual([status, code])
    })
  }
})
