import { beforeAll, expect, test } from "bun:test"
import { randomBytes } from "node:crypto"

import {
  createKey,
  findKey,
  listKeys,
  markLeaked,
  pauseKey,
  resumeKey,
  revokeKey,
} from "../../src/access/key-register.ts"
import { makeKey } from "../../src/access/keys.ts"
import { AccessProblem } from "../../src/access/problem.ts"
import { DEFAULT_SCOPES, type Scope } from "../../src/access/scopes.ts"
import {
  createWorkspace,
  deleteWorkspace,
  findWorkspace,
  listWorkspaces,
  setWorkspace,
} from "../../src/access/workspaces.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { errorOf } from "../error-of.ts"
import { everyRow } from "../every-row.ts"
import { slow } from "../long.ts"
import { chargeAlone, someKey, someWorkspace } from "./registered.ts"

let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
})

async function problemOf(call: Promise<unknown>): Promise<string> {
  const error = await errorOf(call)
  expect(error).toBeInstanceOf(AccessProblem)
  return (error as AccessProblem).message
}

async function trackApp(workspaceId: number, id: string) {
  const [app] = await sql<{ id: number }[]>`
    insert into store_app (platform, store_id)
    values ('ios', ${id})
    returning id`
  await sql`
    insert into tracked_app (id, workspace_id, name, ios_app, countries)
    values (${id}, ${workspaceId}, 'App', ${app!.id}, '{us}')`
  await sql`
    insert into tracked_term (app_id, country, term, position)
    values (${id}, 'us', 'habit tracker', 0)`
}

test("a new workspace has the monthly credits of its plan or override, and the credits of its pack", async () => {
  const plain = await createWorkspace(sql, { name: " Plain ", plan: "pro" })
  expect(plain).toMatchObject({
    name: "Plain",
    plan: "pro",
    explorer: false,
    ipListRequired: false,
    overrides: {},
    suspendedAt: null,
  })
  expect(plain.credits).toMatchObject({ used: 0, limit: 10_000, packCredits: 0 })
  const custom = await createWorkspace(sql, {
    name: "Own",
    plan: "free",
    overrides: { credits: 70, apps: 9 },
    pack: 30,
    explorer: true,
  })
  expect(custom).toMatchObject({ explorer: true, overrides: { credits: 70, apps: 9 } })
  expect(custom.credits).toMatchObject({ limit: 100, packCredits: 30 })
  expect((await listWorkspaces(sql)).map(({ name }) => name)).toEqual(["Plain", "Own"])
})

test("names are unique among workspaces, and available again after a deletion", async () => {
  const first = await createWorkspace(sql, { name: "Twice", plan: "pro" })
  expect(await problemOf(createWorkspace(sql, { name: "Twice", plan: "pro" }))).toContain("already")
  const both = await Promise.allSettled([1, 2].map(() => createWorkspace(sql, { name: "Race", plan: "pro" })))
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"])
  await deleteWorkspace(sql, "Twice")
  expect((await createWorkspace(sql, { name: "Twice", plan: "pro" })).id).not.toBe(first.id)
})

test("invalid values of a workspace are refused with a reason, and no workspace is created", async () => {
  const before = await listWorkspaces(sql)
  const refused: [object, string][] = [
    [{ name: "" }, "name"],
    [{ name: "x".repeat(101) }, "name"],
    [{ name: "red \u001b[31m" }, "name"],
    [{ plan: "gold" }, "plan"],
    [{ pack: 1.5 }, "credit pack"],
    [{ pack: -1 }, "credit pack"],
    [{ overrides: { nonsense: 1 } }, "entitlement"],
    [{ overrides: { credits: -1 } }, "credits"],
    [{ overrides: { apps: Number.NaN } }, "apps"],
  ]
  for (const [values, expected] of refused) {
    const problem = await problemOf(createWorkspace(sql, { name: "Refused", plan: "pro", ...values }))
    expect(problem).toContain(expected)
  }
  expect(await listWorkspaces(sql)).toEqual(before)
})

test("a change keeps the fields that it does not name, and updates the credit limit with the plan", async () => {
  const { name, id } = await someWorkspace(sql, { plan: "pro", explorer: true, overrides: { apps: 7 }, pack: 5 })
  const { key } = await someKey(sql, { name })
  await chargeAlone(sql, { workspaceId: id, keyId: key.id, cost: 40, operation: "test", requestId: "1" })
  expect((await setWorkspace(sql, name, { plan: "studio" })).credits).toMatchObject({ used: 40, limit: 50_005 })
  expect((await setWorkspace(sql, name, { overrides: { credits: 100 } })).credits).toMatchObject({
    used: 40,
    limit: 105,
  })
  expect((await setWorkspace(sql, name, { addPack: 10 })).credits).toMatchObject({ limit: 115, packCredits: 15 })
  const changed = await setWorkspace(sql, name, { overrides: { credits: null } })
  expect(changed).toMatchObject({ plan: "studio", explorer: true, overrides: { apps: 7 }, suspendedAt: null })
  expect(changed.credits).toMatchObject({ used: 40, limit: 50_015 })

  const { suspendedAt } = await setWorkspace(sql, name, { suspended: true, ipListRequired: true })
  expect(suspendedAt).toBeInstanceOf(Date)
  expect(await setWorkspace(sql, name, { explorer: false })).toMatchObject({
    suspendedAt,
    ipListRequired: true,
    explorer: false,
  })
  expect(await setWorkspace(sql, name, { suspended: false })).toMatchObject({ suspendedAt: null, ipListRequired: true })

  expect(await problemOf(setWorkspace(sql, name, { addPack: 0 }))).toContain("credit pack")
  expect(await problemOf(setWorkspace(sql, "Nobody", { explorer: true }))).toContain("no workspace")
})

test("deleting a workspace deletes only its own apps and keeps the ledger", async () => {
  const { name, id } = await someWorkspace(sql)
  const { key } = await someKey(sql, { name })
  const other = await someWorkspace(sql)
  await trackApp(id, "gone")
  await trackApp(other.id, "kept")
  await chargeAlone(sql, { workspaceId: id, keyId: key.id, cost: 3, operation: "test", requestId: "1" })
  expect(await deleteWorkspace(sql, name)).toEqual({ id, apps: 1 })
  expect([...(await sql`select id from tracked_app order by id limit 10`)]).toEqual([{ id: "kept" }])
  expect([...(await sql`select app_id from tracked_term order by app_id limit 10`)]).toEqual([{ app_id: "kept" }])
  expect([...(await sql`select cost from ledger where workspace_id = ${id}`)]).toEqual([{ cost: 3 }])
  const calls = [findWorkspace, deleteWorkspace, listKeys]
  for (const call of calls) expect(await problemOf(call(sql, name))).toContain("no workspace")
  expect(await problemOf(someKey(sql, { name }))).toContain("no workspace")
})

slow("a new key has every scope but hive:measure, and its secret is stored nowhere", async () => {
  const workspace = await someWorkspace(sql)
  const secrets = []
  for (let n = 0; n < 100; n++) {
    const { key, secret } = await someKey(sql, workspace, { kind: n % 2 ? "live" : "test", name: " key " })
    if (n === 0) {
      expect(key).toMatchObject({ kind: "test", name: "key", scopes: [...DEFAULT_SCOPES], state: "usable", used: 0 })
      expect(key).toMatchObject({ ipAllowList: null, appList: null, monthlyBudget: null, expiresAt: null })
      expect(key.scopes).not.toContain("hive:measure")
      expect(secret).toEndWith(key.hint.slice(-4))
    }
    secrets.push(secret)
  }
  const stored = (await everyRow(sql)).join("\n")
  expect(stored).toContain("svc_live_…")
  for (const secret of secrets) {
    expect(stored).not.toContain(secret)
    expect(stored).not.toContain(secret.slice(9, 39))
  }
})

test("a key is created with its limits; invalid limits are refused without creating a key", async () => {
  const workspace = await someWorkspace(sql)
  await trackApp(workspace.id, "mine")
  await trackApp((await someWorkspace(sql)).id, "theirs")
  const expiresAt = new Date(Date.now() + 60_000)
  const scopes: Scope[] = ["apps:read", "hive:measure", "apps:read"]
  const ipAllowList = ["198.51.100.0/24", " 2001:db8::1 "]
  const { key } = await someKey(sql, workspace, { scopes, ipAllowList, appList: ["mine"], monthlyBudget: 9, expiresAt })
  expect(key).toMatchObject({
    scopes: ["apps:read", "hive:measure"],
    ipAllowList: ["198.51.100.0/24", "2001:db8::1"],
    appList: ["mine"],
    monthlyBudget: 9,
    expiresAt,
  })
  const refused: [object, string][] = [
    [{ name: " " }, "name"],
    [{ kind: "admin" }, "kind"],
    [{ scopes: ["everything"] }, "scope"],
    [{ ipAllowList: [] }, "allow list"],
    [{ ipAllowList: ["10.0.0.0/33"] }, "10.0.0.0/33"],
    [{ appList: [] }, "app list"],
    [{ appList: ["mine", "theirs"] }, "theirs"],
    [{ appList: ["never"] }, "never"],
    [{ monthlyBudget: -1 }, "budget"],
    [{ expiresAt: new Date(Date.now() - 1_000) }, "past"],
    [{ expiresAt: new Date("nonsense") }, "expiry"],
    [{ workspace: "Nobody" }, "no workspace"],
  ]
  for (const [values, expected] of refused) expect(await problemOf(someKey(sql, workspace, values))).toContain(expected)
  expect(await listKeys(sql, workspace.name)).toEqual([key])
})

test("the list of keys shows the state of each key: revoked, leaked, expired, paused, on hold or usable", async () => {
  const workspace = await someWorkspace(sql, { overrides: { liveKeys: 2 } })
  const ids = []
  for (const name of ["revoked", "leaked", "expired", "paused", "usable", "on_hold"]) {
    ids.push((await someKey(sql, workspace, { name })).key.id)
  }
  await someKey(sql, workspace, { name: "usable", kind: "test" })
  const [revoked, leaked, expired, paused] = ids as [number, number, number, number]
  await revokeKey(sql, revoked)
  await markLeaked(sql, leaked)
  await sql`update api_key set expires_at = now() where id = ${expired}`
  await pauseKey(sql, paused)
  const keys = await listKeys(sql, workspace.name)
  expect(keys.map(({ state }): string => state)).toEqual(keys.map(({ name }) => name))
  expect((await resumeKey(sql, paused)).state).toBe("usable")
  expect((await resumeKey(sql, revoked)).state).toBe("revoked")
})

test("a leaked key is found by its full text, and the error for an unknown key does not repeat the text", async () => {
  const workspace = await someWorkspace(sql)
  const { key, secret } = await someKey(sql, workspace)
  expect(await markLeaked(sql, ` ${secret}\n`)).toMatchObject({ id: key.id, state: "leaked" })
  const [first] = await sql`select leaked_at, revoked_at from api_key where id = ${key.id}`
  await markLeaked(sql, key.id)
  await revokeKey(sql, key.id)
  const [second] = await sql`select leaked_at, revoked_at from api_key where id = ${key.id}`
  expect(second).toEqual(first)
  const unknown = makeKey("live", randomBytes)
  for (const text of [unknown, `${secret.slice(0, -1)}!`, secret.slice(0, 30)]) {
    expect(await problemOf(markLeaked(sql, text))).not.toContain(text.slice(9))
  }
})

test.each([0, -1, 1.5, Number.NaN, 2 ** 31, 2_000_000_000])("a key with id %p does not exist", async (id) => {
  for (const act of [findKey, revokeKey, pauseKey, resumeKey, markLeaked]) {
    expect(await problemOf(act(sql, id))).toContain("no key")
  }
})

test("a new key uses the given source of random bytes", async () => {
  const workspace = await someWorkspace(sql)
  const fixedBytes = (size: number) => new Uint8Array(size).fill(1)
  const { secret } = await createKey(sql, { workspace: workspace.name, kind: "live", name: "fixed" }, fixedBytes)
  expect(secret).toStartWith(`svc_live_${"1".repeat(30)}`)
})
