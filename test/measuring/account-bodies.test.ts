import { afterAll, beforeEach, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openAccountBodies, openAllBodies, openRawBodies } from "../../src/measuring/raw-bodies.ts"
import { bodyOf } from "./bodies.ts"

const START = new Date("2026-03-01T12:00:00Z")
const [TEA, COFFEE] = ["ac_0123456789abcdef01", "ac_0123456789abcdef02"]
const folders: string[] = []

let now: Date
let folder: string
beforeEach(() => {
  now = START
  folder = mkdtempSync(join(tmpdir(), "account-bodies-"))
  folders.push(folder)
})
afterAll(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true })
})

const options = () => ({ folder, days: 14, accountDays: 400, megabytes: 10, now: () => now })
const later = (days: number) => {
  now = new Date(START.getTime() + days * 86_400_000)
}

test("account response bodies are stored longer than store response bodies; both are found by hash", async () => {
  const [page, report] = [bodyOf("a page", now), bodyOf("a report", now)]
  const [stores, accounts] = [openRawBodies(options()), openAccountBodies(options())]
  await stores.keep(page)
  await accounts.keep(report, TEA)
  const all = openAllBodies(options())
  expect((await all.read(report.sha256))!.text).toBe("a report")
  expect((await all.read(page.sha256))!.text).toBe("a page")
  expect([await all.has(report.sha256), await all.has(new Uint8Array(32))]).toEqual([true, false])
  expect(await all.size()).toMatchObject({ bodies: 2, oldest: START })
  later(300)
  await stores.sweep()
  await openAccountBodies(options()).sweep([TEA])
  expect([await all.has(page.sha256), await all.has(report.sha256)]).toEqual([false, true])
  expect(await all.size()).toMatchObject({ bodies: 1, oldest: null })
  later(401)
  await openAccountBodies(options()).sweep([TEA])
  expect(await all.size()).toMatchObject({ bodies: 0 })
})

test("bodies of a deleted account are deleted immediately, and bodies of an unknown account after a week", async () => {
  const accounts = openAccountBodies(options())
  const [teaBody, coffeeBody] = [bodyOf("of tea", now), bodyOf("of coffee", now)]
  await accounts.keep(teaBody, TEA)
  await accounts.keep(coffeeBody, COFFEE)
  await accounts.forget(TEA)
  expect([await accounts.has(teaBody.sha256), await accounts.has(coffeeBody.sha256)]).toEqual([false, true])
  expect(readdirSync(join(folder, "accounts"))).toEqual([COFFEE])
  later(6)
  await accounts.sweep([])
  expect(await accounts.has(coffeeBody.sha256)).toBe(true)
  // the last sweep was at least ten minutes ago
  now = new Date(now.getTime() + 86_400_000 * 1.5)
  await accounts.sweep([])
  expect(await accounts.has(coffeeBody.sha256)).toBe(false)
})

test("a body is not stored for a name that is not an account id, or with a setting of 0 days", async () => {
  const body = bodyOf("x", now)
  await openAccountBodies(options()).keep(body, "../../elsewhere")
  await openAccountBodies({ ...options(), accountDays: 0 }).keep(body, TEA)
  expect(await openAccountBodies(options()).size()).toEqual({ bodies: 0, bytes: 0 })
  await openAccountBodies(options()).forget("..")
  expect(readdirSync(folder)).toEqual([])
})
