import { beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { randomBytes } from "node:crypto"
import { createKey, listKeys } from "../../../src/access/key-register.ts"
import { createWorkspace, deleteWorkspace } from "../../../src/access/workspaces.ts"
import { createFirstKeys, isFirstStart, markShown } from "../../../src/commands/process/first-start.ts"
import type { Sql } from "../../../src/database/types.ts"
import { readSettings } from "../../../src/settings/settings.ts"
import { freshDatabase } from "../../database.ts"

setDefaultTimeout(60_000)

const { firstWorkspace: settings } = readSettings({}, () => "")
let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
})

const states = async () => (await listKeys(sql, "default")).map(({ name, state }) => `${name} ${state}`)

test("the first keys are replaced at each start until they have been shown, and never afterwards", async () => {
  const firstKeys = await createFirstKeys(sql, settings)
  expect(await isFirstStart(sql)).toBeTrue()
  const replaced = await createFirstKeys(sql, settings)
  expect(replaced?.liveKey).not.toBe(firstKeys!.liveKey)
  expect(await states()).toEqual([
    "first live key revoked",
    "first test key revoked",
    "first live key usable",
    "first test key usable",
  ])
  await markShown(sql)
  expect(await isFirstStart(sql)).toBeFalse()
  expect(await createFirstKeys(sql, settings)).toBeNull()
  expect(await states()).toHaveLength(4)
})

test("if a start is killed between its two keys, the next start replaces both and keeps other keys", async () => {
  await createFirstKeys(sql, settings)
  await sql`delete from key_month where key_id in (select id from api_key where kind = 'test')`
  await sql`delete from api_key where kind = 'test'`
  await createKey(sql, { workspace: "default", kind: "live", name: "mine" }, randomBytes)
  expect((await createFirstKeys(sql, settings))?.testKey).toStartWith("svc_test_")
  expect(await states()).toEqual([
    "first live key revoked",
    "mine usable",
    "first live key usable",
    "first test key usable",
  ])
})

test("a workspace created by a command gets no keys", async () => {
  await createWorkspace(sql, { name: "default", plan: "pro" })
  expect(await isFirstStart(sql)).toBeFalse()
  expect(await createFirstKeys(sql, settings)).toBeNull()
  expect(await states()).toEqual([])
})

test("a start without any workspace is a first start again", async () => {
  await createFirstKeys(sql, settings)
  await markShown(sql)
  await deleteWorkspace(sql, "default")
  expect(await isFirstStart(sql)).toBeTrue()
  expect(await createFirstKeys(sql, settings)).not.toBeNull()
  expect(await isFirstStart(sql)).toBeTrue()
})
