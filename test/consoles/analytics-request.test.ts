import { afterEach, beforeEach, expect, test } from "bun:test"
import { createAnalyticsRequest } from "../../src/consoles/seller/request-analytics.ts"
import { freshDatabase } from "../database.ts"
import { type AccountScene, accountScene, TEA } from "./scene.ts"

let scene: AccountScene
beforeEach(async () => {
  scene = await accountScene(await freshDatabase())
})
afterEach(() => scene.standIn.stop())

const problemOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: Error) => error.message,
  )

test("an Admin key requests the reports once and is not stored; other keys get an explanation", async () => {
  const { id } = await scene.add(scene.standIn.key("SALES"))
  const { register, workspaceId, standIn } = scene
  const wish = { id, app: TEA.id }
  expect(await problemOf(createAnalyticsRequest(register, workspaceId, wish))).toMatch(/key with the role Admin/)
  const admin = standIn.key("ADMIN")
  const once = { keyId: admin.keyId, privateKey: admin.pem }
  const before = await scene.sql`select sealed, shown from connected_account`
  expect(await createAnalyticsRequest(register, workspaceId, { ...wish, once })).toBe(true)
  expect(await createAnalyticsRequest(register, workspaceId, { ...wish, once })).toBe(false)
  expect(standIn.analytics.posted).toEqual([TEA.id])
  expect([...(await scene.sql`select sealed, shown from connected_account`)]).toEqual([...before])
  // Reports that the console stopped are requested again.
  standIn.analytics.requests[0]!.stopped = true
  expect(await createAnalyticsRequest(register, workspaceId, { ...wish, once })).toBe(true)
  expect(await problemOf(createAnalyticsRequest(register, workspaceId, { ...wish, app: "999" }))).toMatch(
    /has no app 999/,
  )
  const other = await scene.service.workspace()
  expect(await problemOf(createAnalyticsRequest(register, other, wish))).toMatch(/account/)
})

test("a console failure while requesting reports is not reported as a missing role of the key", async () => {
  const { register, workspaceId, standIn } = scene
  const { id } = await scene.add(standIn.key("ADMIN"))
  standIn.before = async (path) =>
    path === "/v1/analyticsReportRequests" ? new Response("out of order", { status: 500 }) : null
  const problem = await problemOf(createAnalyticsRequest(register, workspaceId, { id, app: TEA.id }))
  expect(problem).not.toBeNull()
  expect(problem).not.toMatch(/role/)
})
