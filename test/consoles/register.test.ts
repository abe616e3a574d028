import { afterEach, beforeEach, expect, test } from "bun:test"
import { generateKeyPairSync } from "node:crypto"
import { reseal } from "../../src/access/reseal.ts"
import { createSealer, SecretKeys } from "../../src/access/sealed.ts"
import { openConsole } from "../../src/consoles/console.ts"
import { openKey } from "../../src/consoles/credentials.ts"
import {
  addAccount,
  findAccount,
  listAccounts,
  pauseAccount,
  removeAccount,
  rotateKey,
  setMapping,
  testAccount,
} from "../../src/consoles/register.ts"
import { noteState, noteTrouble } from "../../src/consoles/state.ts"
import { CONSOLE_HOST } from "../../src/lib/upstreams.ts"
import { SECRET_KEY } from "../alerts/delivery/scene.ts"
import { freshDatabase } from "../database.ts"
import { type AccountScene, accountScene, TEA } from "./scene.ts"

let scene: AccountScene
beforeEach(async () => {
  scene = await accountScene(await freshDatabase())
})
afterEach(() => scene.standIn.stop())

const OTHER_KEY = "Z1w2e3r4t5y6u7i8o9p0a1s2d3f4g5h6j7k8l9z0x1c="

const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: Error) => `${error.name}: ${error.message}`,
  )

test("adding an account shows each right separately and finds the tracked app by its store id", async () => {
  scene.standIn.apps.push({ id: "999", name: "Not tracked", bundleId: "com.example.no", sku: "NO" })
  const account = await scene.add(scene.standIn.key("SALES"))
  expect(account).toMatchObject({ state: "ok", why: null, part: scene.standIn.vendor, shown: "key …0000" })
  expect(account.rights.map(({ name, state }) => [name, state])).toEqual([
    ["analytics", "ok"],
    ["apps", "ok"],
    ["prices", "denied"],
    ["reviews", "denied"],
    ["sales", "ok"],
  ])
  expect(account.rights.find(({ name }) => name === "prices")?.why).toBe("needs the role App Manager or Admin")
  expect(account.apps).toEqual([
    { outsideId: TEA.id, name: TEA.name, appId: scene.appId, byHand: false },
    { outsideId: "999", name: "Not tracked", appId: null, byHand: false },
  ])
})

test("the list of apps is read page by page and never from another host", async () => {
  for (let i = 0; i < 449; i++)
    scene.standIn.apps.push({ id: String(1_000 + i), name: `App ${i}`, bundleId: `com.example.a${i}`, sku: `A${i}` })
  expect((await scene.add()).apps).toHaveLength(450)
  const paths: string[] = []
  scene.standIn.before = (path) => {
    if (!path.startsWith("/v1/apps?")) return null
    paths.push(path)
    const attributes = { name: "Tea", bundleId: "b", sku: "s" }
    const links = paths.length > 1 ? {} : { next: "https://attacker.example/v1/apps?cursor=2" }
    return Response.json({ data: [{ type: "apps", id: "5", attributes }], links })
  }
  await scene.add(scene.standIn.key("ADMIN"))
  expect(paths).toEqual(["/v1/apps?fields[apps]=name,bundleId,sku&limit=200", "/v1/apps?cursor=2"])
})

test("a key without the sales right limits the account and raises an alert, which a new key ends", async () => {
  const account = await scene.add(scene.standIn.key("MARKETING"))
  expect(account).toMatchObject({ state: "limited", why: expect.stringMatching(/^sales: needs the role Sales/) })
  await testAccount(scene.register, scene.workspaceId, account.id)
  expect(await alerts()).toEqual([["account_limited", account.id, false]])
  const { keyId, pem: privateKey } = scene.standIn.key("SALES")
  const rotated = await rotateKey(scene.register, scene.workspaceId, account.id, { keyId, privateKey })
  expect(rotated).toMatchObject({ id: account.id, state: "ok", shown: "key …0001" })
  expect(await alerts()).toEqual([["account_limited", account.id, true]])
})

const alerts = async () => {
  const rows = await scene.sql<{ kind: string; subject: string; over: boolean }[]>`
    select kind, subject, ended_at is not null as over from instance_alert order by id`
  return rows.map(({ kind, subject, over }) => [kind, subject, over])
}

test("a state change that twenty processes detect raises one alert; a repetition raises a new alert", async () => {
  const { id } = await scene.add()
  const revoked = { state: "revoked", why: "refused" } as const
  const noted = await Promise.all(Array.from({ length: 20 }, () => scene.sql.begin((tx) => noteState(tx, id, revoked))))
  expect(noted.filter(Boolean)).toHaveLength(1)
  await scene.sql.begin((tx) => noteState(tx, id, { state: "ok", why: null }))
  await scene.sql.begin((tx) => noteState(tx, id, revoked))
  expect(await alerts()).toEqual([
    ["account_revoked", id, true],
    ["account_revoked", id, false],
  ])
})

test("a key is revoked after ten minutes of rejected tokens, not after the first rejection", async () => {
  const { id } = await scene.add()
  const key = scene.standIn.key()
  scene.standIn.revoke(key.keyId)
  const console = await openConsole(
    { issuer: scene.standIn.issuer, keyId: key.keyId, privateKey: key.pem },
    scene.register.reach.to(CONSOLE_HOST),
  )
  const problem = await console.get("/v1/apps").catch((error) => error)
  expect(problem).toMatchObject({ trouble: "unauthorized" })
  const [claimed] = (await scene.sql`select id, sealed from connected_account where id = ${id}`) as unknown as [
    { id: string; sealed: string },
  ]
  await noteTrouble(scene.sql, claimed, problem)
  expect((await findAccount(scene.sql, scene.workspaceId, id)).state).toBe("ok")
  await scene.sql`update connected_account set refused_since = refused_since - interval '11 minutes' where id = ${id}`
  await noteTrouble(scene.sql, claimed, problem)
  expect(await findAccount(scene.sql, scene.workspaceId, id)).toMatchObject({
    state: "revoked",
    failure: problem.message,
  })
})

test("an open agreement is reported as a task of the account holder, not as an invalid key", async () => {
  scene.standIn.agreement = true
  expect(await problemOf(scene.add())).toStartWith("ConsoleProblem: an agreement is waiting for the account holder")
  expect(await listAccounts(scene.sql, scene.workspaceId)).toEqual([])
})

test("a token that is not yet valid by the console's clock is signed again once", async () => {
  scene.standIn.aheadS = -45
  expect((await scene.add()).state).toBe("ok")
  let refusals = 0
  scene.standIn.before = () => (refusals++ === 0 ? new Response(null, { status: 401 }) : null)
  expect((await scene.add()).state).toBe("ok")
  scene.standIn.aheadS = -600
  expect(await problemOf(scene.add())).toMatch(/^ConsoleProblem: the console refuses the key/)
})

test("an invalid key, issuer or vendor number is refused before any request to the console", async () => {
  const { keyId, pem } = scene.standIn.key()
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey.export({ type: "pkcs8", format: "pem" })
  const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey.export({ type: "pkcs8", format: "pem" })
  const key = { issuer: scene.standIn.issuer, keyId, privateKey: pem }
  const { vendor: part } = scene.standIn
  const wrong = [
    { key: { ...key, privateKey: "hush" }, part },
    { key: { ...key, privateKey: rsa as string }, part },
    { key: { ...key, privateKey: p384 as string }, part },
    { key: { ...key, issuer: "me" }, part },
    { key: { ...key, keyId: "../../x" }, part },
    { key, part: "85012345&x=1" },
  ]
  for (const fields of wrong) {
    const problem = await problemOf(
      addAccount(scene.register, scene.workspaceId, { kind: "app-store-connect", ...fields }),
    )
    expect(problem).toStartWith("AccessProblem: ")
    expect(problem).not.toContain("hush")
  }
  expect(scene.standIn.requests).toEqual([])
})

test("without SECRET_KEY nothing is requested or stored; a key sealed with another value can be rotated", async () => {
  const key = scene.standIn.key()
  const named = { issuer: scene.standIn.issuer, keyId: key.keyId, privateKey: key.pem }
  const added = { kind: "app-store-connect", part: scene.standIn.vendor } as const
  const bare = { ...scene.register, sealer: await createSealer(null) }
  const problem = await problemOf(addAccount(bare, scene.workspaceId, { ...added, key: named }))
  expect(problem).toMatch(/^AccessProblem: this needs SECRET_KEY/)
  expect(scene.standIn.requests).toEqual([])
  const { id } = await scene.add(key)
  const other = { ...scene.register, sealer: await createSealer(new SecretKeys([OTHER_KEY])) }
  expect(await problemOf(testAccount(other, scene.workspaceId, id))).toMatch(/neither SECRET_KEY nor/)
  expect(await problemOf(rotateKey(other, scene.workspaceId, id, { keyId: named.keyId, privateKey: key.pem }))).toMatch(
    /neither SECRET_KEY nor/,
  )
  expect((await rotateKey(other, scene.workspaceId, id, named)).state).toBe("ok")
})

test("an earlier SECRET_KEY opens the keys that it sealed until all keys are sealed again", async () => {
  const { id } = await scene.add()
  const both = await createSealer(new SecretKeys([OTHER_KEY, SECRET_KEY]))
  expect((await testAccount({ ...scene.register, sealer: both }, scene.workspaceId, id)).state).toBe("ok")
  expect(await reseal(scene.sql, both)).toMatchObject({ resealed: 1, newest: 1, unreadable: 0 })
  const newest = await createSealer(new SecretKeys([OTHER_KEY]))
  expect((await testAccount({ ...scene.register, sealer: newest }, scene.workspaceId, id)).state).toBe("ok")
})

test("a sealed key that was moved to another account's row cannot be opened there", async () => {
  const [first, second] = [await scene.add(), await scene.add()]
  await scene.sql`
    update connected_account set sealed = (select sealed from connected_account where id = ${first.id})
    where id = ${second.id}`
  expect(await problemOf(testAccount(scene.register, scene.workspaceId, second.id))).toMatch(/belongs to another row/)
})

test("a key that the console rejects never replaces a working one", async () => {
  const { id } = await scene.add()
  const fresh = scene.standIn.key()
  scene.standIn.revoke(fresh.keyId)
  const rotating = rotateKey(scene.register, scene.workspaceId, id, { keyId: fresh.keyId, privateKey: fresh.pem })
  expect(await problemOf(rotating)).toMatch(/refuses the key/)
  expect(await testAccount(scene.register, scene.workspaceId, id)).toMatchObject({ state: "ok", shown: "key …0000" })
})

test("an app mapped by hand keeps its mapping, and apps of other workspaces cannot be mapped", async () => {
  const { id } = await scene.add()
  const stranger = await accountScene(scene.sql)
  stranger.standIn.stop()
  const map = (appId: string | null) => setMapping(scene.sql, scene.workspaceId, { id, outsideId: TEA.id, appId })
  expect(await problemOf(map(stranger.appId))).toMatch(/tracks no app with this id/)
  expect((await map(null)).apps).toMatchObject([{ appId: null, byHand: true }])
  expect((await testAccount(scene.register, scene.workspaceId, id)).apps).toMatchObject([{ appId: null }])
  expect((await map(scene.appId)).apps).toMatchObject([{ appId: scene.appId }])
  expect(await problemOf(findAccount(scene.sql, stranger.workspaceId, id))).toMatch(/has no account/)
})

test("a paused account stays paused; removing it destroys the key, and forgetting it deletes all data", async () => {
  const { id } = await scene.add()
  await pauseAccount(scene.sql, scene.workspaceId, id, true)
  expect((await testAccount(scene.register, scene.workspaceId, id)).state).toBe("paused")
  expect((await pauseAccount(scene.sql, scene.workspaceId, id, false)).state).toBe("connecting")
  await removeAccount(scene.sql, scene.workspaceId, id, false)
  const [row] = await scene.sql`select sealed, next_at from connected_account where id = ${id}`
  expect(row).toEqual({ sealed: null, next_at: null })
  expect(await problemOf(testAccount(scene.register, scene.workspaceId, id))).toMatch(/its key destroyed/)
  await removeAccount(scene.sql, scene.workspaceId, id, true)
  expect(await listAccounts(scene.sql, scene.workspaceId)).toEqual([])
  expect(await scene.sql`select from account_app`).toHaveLength(0)
})

test("a sealed key opens to the same content and contains none of it in plain text", async () => {
  const key = scene.standIn.key()
  const { id } = await scene.add(key)
  const [row] = await scene.sql<{ sealed: string }[]>`select sealed from connected_account`
  expect(await openKey(scene.register.sealer, id, row!.sealed)).toEqual({
    issuer: scene.standIn.issuer,
    keyId: key.keyId,
    privateKey: key.pem,
  })
  expect(row!.sealed).not.toContain(key.keyId)
})
