import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { listWorkspaceKeys } from "../../../src/access/key-register.ts"
import type { Browser } from "../../access/sign-in/browser.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { openService, type Service } from "../../service.ts"
import { type Sharing, sharing } from "../../sharing/share-scene.ts"
import { ownerOf } from "../app-scene.ts"
import { settingsBrowser } from "./settings-browser.ts"

setDefaultTimeout(60_000)

const KEYS = "/app/settings/keys"

let service: Service
let tea: Sharing
let owner: Browser
let settings: ReturnType<typeof settingsBrowser>

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
  tea = await sharing(service, { name: "Tea <Timer>", keywords: ["tea"] })
  owner = await ownerOf(service, tea.writer.workspace)
  settings = settingsBrowser(owner, KEYS)
})

const create = (fields: Record<string, string | string[]>) =>
  settings.send("create", { name: "CI", kind: "live", scopes: ["apps:read"], ...fields })

const keysOf = async (sharing: Sharing) => await listWorkspaceKeys(service.sql, sharing.writer.workspace)
const keyNamed = async (name: string) => (await keysOf(tea)).find((key) => key.name === name)!

describe("keys in the settings", () => {
  test("a key is created with rights, apps and limits, and its secret is shown only once", async () => {
    const page = await create({
      name: "Limited",
      appList: tea.app,
      monthlyBudget: "500",
      expiresAt: "2999-01-31",
      ipAllowList: "192.0.2.0/24\r\n198.51.100.7",
    })
    const [secret = ""] = /value="(svc_live_[^"]+)"/.exec(page.text)?.slice(1) ?? []
    expect([page.status, secret.length > 20]).toEqual([200, true])
    const answer = await service.call("/v1/apps", { key: secret, from: "192.0.2.9" })
    expect([answer.status, answer.body.apps.length]).toEqual([200, 1])
    expect((await service.call("/v1/apps", { key: secret, from: "203.0.113.1" })).body.error).toBe("ip_not_allowed")
    const key = await keyNamed("Limited")
    expect([key.monthlyBudget, key.appList, key.expiresAt?.toISOString()]).toEqual([
      500,
      [tea.app],
      "2999-01-31T00:00:00.000Z",
    ])
    const list = await owner.open(KEYS)
    expect([list.text.includes("Limited"), list.text.includes(secret)]).toEqual([true, false])
  })

  test("a refused form is shown again with the values that were sent, and with the message at its field", async () => {
    const page = await create({ name: "Kept <name>", scopes: [], expiresAt: "2999-02-30" })
    expect(page.status).toBe(400)
    expect(page.text).toContain('value="Kept &lt;name&gt;"')
    expect(page.text).toMatch(/id="create-scopes-error">Choose at least one right\./)
    const late = await create({ expiresAt: "2020-01-01" })
    expect(late.text).toMatch(/id="create-expiresAt-error">The expiry lies in the past\./)
    expect((await create({ ipAllowList: "nowhere" })).text).toContain('id="create-ipAllowList-error"')
    expect((await create({ name: "x".repeat(101) })).text).toContain('id="create-name-error"')
  })

  test("a key is paused, resumed and revoked, and revoking asks for confirmation", async () => {
    await create({ name: "Changing" })
    const { id } = await keyNamed("Changing")
    const of = { id: String(id) }
    expect((await settings.send("pause", of)).headers.get("location")).toBe(`${KEYS}?done=paused`)
    expect((await keyNamed("Changing")).state).toBe("paused")
    expect((await owner.open(`${KEYS}?done=paused`)).text).toContain("The key is paused.")
    await settings.send("resume", of)
    expect((await keyNamed("Changing")).state).toBe("usable")
    expect((await settings.send("revoke", of)).text).toContain("Revoke “Changing”?")
    expect((await keyNamed("Changing")).state).toBe("usable")
    await settings.send("revoked", of)
    expect((await keyNamed("Changing")).state).toBe("revoked")
  })

  test("a key's changes wait for approval while approval is required for the key", async () => {
    const page = await create({ name: "Agent", scopes: ["apps:read", "track:write"] })
    const [key = ""] = /value="(svc_live_[^"]+)"/.exec(page.text)?.slice(1) ?? []
    const id = String((await keyNamed("Agent")).id)
    const confirm = async () => {
      const body = { action: "add_keywords", args: { appId: tea.app, keywords: [`word ${crypto.randomUUID()}`] } }
      const { confirmToken } = (await service.call("/v1/actions", { key, method: "POST", body })).body
      return (await service.call("/v1/actions/confirm", { key, method: "POST", body: { confirmToken } })).body
    }
    await settings.send("require", { id })
    expect([(await confirm()).reason, (await owner.open(KEYS)).text.includes("wait for approval")]).toEqual([
      "approval_needed",
      true,
    ])
    await settings.send("trust", { id })
    expect((await confirm()).result.added).toHaveLength(1)
  })

  test("revoking a key on the page is recorded in the server's audit log", async () => {
    const rows = await service.sql<{ command: string; actor: string; exitCode: number }[]>`
      select command, actor, exit_code as "exitCode"
      from operator_action
      where command = 'key revoke'`
    expect(rows.map(({ command, exitCode }) => [command, exitCode])).toEqual([["key revoke", 0]])
    expect(rows[0]?.actor).toContain("on a page")
  })
})

describe("attacks on the keys", () => {
  slow("a form with an unknown action, scope or key id is refused", async () => {
    expect((await settings.send("constructor", {})).status).toBe(400)
    expect((await settings.send("destroy", {})).status).toBe(400)
    expect((await create({ scopes: ["root"] })).status).toBe(400)
    for (const id of ["", "0", "-1", "1e9", "99999999999", "x", "'; drop"])
      expect([id, (await settings.send("revoked", { id })).status]).toEqual([id, 400])
  })
})
