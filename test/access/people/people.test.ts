import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { hash, randomBytes } from "node:crypto"
import { setApprovalRule } from "../../../src/access/approval-rules.ts"
import { createKey } from "../../../src/access/key-register.ts"
import { createInvitation } from "../../../src/access/people/invitations.ts"
import { changeRights, removeMember } from "../../../src/access/people/people.ts"
import { type Role, scopesOf } from "../../../src/access/people/roles.ts"
import { createCode } from "../../../src/access/sign-in/code.ts"
import { setPassphrase } from "../../../src/access/sign-in/passphrase.ts"
import type { Sql } from "../../../src/database/types.ts"
import { listAudit } from "../../../src/writes/audit.ts"
import { deleteRows, freshDatabase } from "../../database.ts"
import { errorOf } from "../../error-of.ts"
import { slow } from "../../long.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import { agree, answerIn, codeFor, pkce, post, queryOf, REDIRECT, refresh, register, scopesOn } from "../oauth/scene.ts"
import { type Browser, browserOf, fieldIn } from "../sign-in/browser.ts"
import { alsoMember, anotherAddress, type Member, memberOf, signedIn } from "./scene.ts"

setDefaultTimeout(60_000)

const PASSPHRASE = "correct horse battery"

let sql: Sql
let service: Service
let workspaceId: number
let workspace: string
let app: string
let owner: Member
let count = 0

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
})

beforeEach(async () => {
  await deleteRows(sql, "secret_try")
  workspace = `acme ${++count}`
  workspaceId = await service.workspace({ name: workspace, plan: "pro" })
  owner = await memberOf(service, workspaceId, "owner")
  app = await trackOwn(sql, { workspaceId, iosId: String(2_000_000_000 + count) })
})

/** Another process with its own caches, which serves a cached caller until it looks it up again. */
const otherProcess = () => openService({ sql })

const invite = (role: Role, inviter: Member | null = owner) =>
  createInvitation(sql, {
    workspaceId,
    name: "Bo",
    scopes: scopesOf(role),
    appList: null,
    invitedBy: inviter?.personId ?? null,
  })

const join = (code: string, name: string, browser = browserOf(service, { from: anotherAddress() })) =>
  browser.send("/invitation", { code, name, passphrase: PASSPHRASE })

/** Previews a write on a page. Returns the status, and the token that confirms the write. */
async function previewOn(browser: Browser, keyword: string) {
  const form = fieldIn(await browser.open("/app/add"), "form") ?? ""
  const page = await browser.send("/app/write", {
    form,
    action: "add_keywords",
    back: "/app",
    appId: app,
    keywords: keyword,
  })
  return { status: page.status, form, confirmToken: fieldIn(page, "confirmToken"), text: page.text }
}

/** Approves an assistant as this person. Returns the credentials with which the assistant fetches its tokens. */
async function consentOf({ browser }: Member, scopes = ["apps:read"]) {
  const clientId = await register(service)
  const { verifier, challenge } = pkce()
  const code = await codeFor(browser, queryOf(clientId, challenge, { scope: scopes.join(" ") }), { scopes })
  return {
    grant_type: "authorization_code",
    code,
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_verifier: verifier,
  }
}

/** Connects an assistant as this person. */
async function assistantOf(member: Member, scopes: string[]) {
  const consent = await consentOf(member, scopes)
  const { body } = await post(service, "/oauth/token", consent)
  return {
    clientId: consent.client_id,
    access: body.access_token as string,
    refresh: body.refresh_token as string,
    scope: body.scope as string,
  }
}

const keyOf = async (personId: number) =>
  (await createKey(sql, { workspace, kind: "live", name: "script", personId }, randomBytes)).secret

describe("the first start", () => {
  test("a server's first person is its operator; a second workspace's first person is only an owner", async () => {
    const fresh = await freshDatabase()
    const first = openService({ sql: fresh })
    const people = async () => await fresh`select name, is_operator as operator from person order by id`
    await createCode(fresh, await first.workspace({ name: "default" }))
    expect([...(await people())]).toMatchObject([{ name: "owner", operator: true }])
    await createCode(fresh, await first.workspace({ name: "acme" }))
    expect([...(await people())]).toMatchObject([{ name: "owner" }, { name: "acme", operator: false }])
  })

  slow(
    "the first sign-in by code offers a passphrase, and the only person with a passphrase types no name",
    async () => {
      const fresh = await freshDatabase()
      const first = openService({ sql: fresh })
      const browser = browserOf(first)
      const code = await createCode(fresh, await first.workspace({ name: "default" }))
      await browser.send("/sign-in", { code })
      expect((await browser.open("/app")).text).toContain('href="/sign-in/passphrase"')
      const offer = await browser.open("/sign-in/passphrase")
      expect(offer.text).toContain("Not now")
      const fields = { form: fieldIn(offer, "form") ?? "", next: "/app", name: "Ada" }
      expect((await browser.send("/sign-in/passphrase", { ...fields, passphrase: "short" })).text).toContain(
        "A passphrase has 12 to 128 characters.",
      )
      expect((await browser.send("/sign-in/passphrase", { ...fields, passphrase: PASSPHRASE })).status).toBe(303)
      const { status, text } = await browser.open("/app")
      expect([status, text.includes('href="/sign-in/passphrase"')]).toEqual([200, false])
      const later = browserOf(first)
      expect(fieldIn(await later.open("/sign-in"), "name")).toBeUndefined()
      expect((await later.send("/sign-in", { passphrase: PASSPHRASE })).headers.get("location")).toBe("/app")
    },
  )
})

describe("an invitation", () => {
  slow("an invitation creates one person with the invited rights and the chosen name and passphrase", async () => {
    const code = await invite("viewer")
    const browser = browserOf(service, { from: anotherAddress() })
    for (const _ of [1, 2]) expect((await browser.open(`/invitation?code=${code}`)).text).toContain(workspace)
    expect((await join(code, "Bo Viewer", browser)).headers.get("location")).toBe("/app")
    expect((await browser.open("/app")).status).toBe(200)
    expect((await previewOn(browser, "tea")).status).toBe(403)
    for (const reuse of [await join(code, "Mallory"), await browserOf(service).open(`/invitation?code=${code}`)])
      expect([reuse.status, reuse.text.includes("This invitation is not valid")]).toEqual([404, true])
    const response = await browserOf(service).send("/sign-in", { name: "bo viewer", passphrase: PASSPHRASE })
    expect(response.status).toBe(303)
  })

  slow("only one of ten browsers that accept an invitation concurrently becomes a member", async () => {
    const code = await invite("viewer")
    const sent = await Promise.all(Array.from({ length: 10 }, (_, n) => join(code, `Twin ${count} ${n}`)))
    expect(sent.filter(({ status }) => status === 303)).toHaveLength(1)
  })

  test("an invitation that is expired, withdrawn, guessed or sent by a removed person lets nobody in", async () => {
    const other = await memberOf(service, workspaceId, "owner")
    const codes = [await invite("owner"), await invite("owner", other), await invite("owner")]
    await sql`update invitation set expires_at = now() where id = (select min(id) from invitation)`
    await sql.begin((tx) => removeMember(tx, workspaceId, other.personId))
    const demoted = await memberOf(service, workspaceId, "owner")
    codes.push(await invite("owner", demoted))
    await sql.begin((tx) =>
      changeRights(tx, workspaceId, demoted.personId, { scopes: scopesOf("viewer"), appList: null }),
    )
    await sql`delete from invitation where id = (select max(id) from invitation)`
    for (const code of [...codes, "A".repeat(43), ""]) expect((await join(code, `Mallory ${count}`)).status).toBe(404)
  })

  slow("an invitation stays open until it is accepted with a free name and a valid passphrase", async () => {
    const code = await invite("viewer")
    for (const [name, problem] of [
      [owner.name.toLowerCase(), "There is already a person named"],
      ["", "A person&#39;s name has 1 to 100 printable characters"],
    ] as const)
      expect(await join(code, name)).toMatchObject({ status: 400, text: expect.stringContaining(problem) })
    expect((await join(code, `Bo ${count}`)).status).toBe(303)
  })

  test("a form of another site cannot accept an invitation for a new or a signed-in person", async () => {
    const code = await invite("owner")
    const headers = { "sec-fetch-site": "cross-site" }
    const fields = { code, name: "Mallory", passphrase: PASSPHRASE }
    expect((await browserOf(service).send("/invitation", fields, headers)).status).toBe(400)
    const bo = await memberOf(service, await service.workspace(), "owner")
    expect((await bo.browser.send("/invitation", { code, as: "me" })).status).toBe(400)
    const form = fieldIn(await bo.browser.open(`/invitation?code=${code}`), "form") ?? ""
    expect((await bo.browser.send("/invitation", { code, as: "me", form })).status).toBe(303)
  })
})

describe("several workspaces", () => {
  slow("a person has their own rights in each workspace, and switches between them", async () => {
    const bo = await memberOf(service, await service.workspace({ name: `other ${count}` }), "owner")
    await alsoMember(service, workspaceId, bo.personId, "viewer")
    expect((await bo.browser.open(`/app/apps/${app}`)).status).toBe(404)
    const form = fieldIn(await bo.browser.open("/sign-in"), "form") ?? ""
    const to = (id: number) => bo.browser.send("/sign-in/workspace", { form, workspace: String(id) })
    expect((await to(workspaceId)).status).toBe(303)
    expect((await bo.browser.open(`/app/apps/${app}`)).status).toBe(200)
    expect((await previewOn(bo.browser, "tea")).status).toBe(403)
    expect((await to(await service.workspace())).status).toBe(400)
    expect((await bo.browser.send("/sign-in/workspace", { workspace: String(workspaceId) })).status).toBe(400)
  })
})

describe("rights", () => {
  slow("a viewer cannot preview a write, and cannot confirm or approve another person's write", async () => {
    const viewer = await memberOf(service, workspaceId, "viewer")
    expect((await previewOn(viewer.browser, "tea")).status).toBe(403)
    const { confirmToken } = await previewOn(owner.browser, "tea")
    const form = fieldIn(await viewer.browser.open("/sign-in"), "form") ?? ""
    const confirmed = await viewer.browser.send("/app/write", { form, confirmToken: confirmToken ?? "", back: "/app" })
    expect([confirmed.status, await listAudit(sql, { workspaceId, rights: null, limit: 5 })]).toEqual([400, []])

    await setApprovalRule(sql, workspaceId, null, { actions: ["all"] })
    const key = await service.key(workspaceId)
    const args = { appId: app, keywords: ["green tea"] }
    const { body } = await service.call("/v1/actions", { method: "POST", key, body: { action: "add_keywords", args } })
    const approved = [
      await viewer.browser.send(`/approve/${body.approval.id}`, { form, verdict: "approve" }),
      await viewer.browser.send("/app/changes", { form, id: body.approval.id, verdict: "approved" }),
    ]
    expect(approved.map((page) => page.status)).toEqual([403, 403])
    expect(await sql`select verdict from approval where id = ${body.approval.id}`).toMatchObject([{ verdict: null }])
    const ownerForm = fieldIn(await owner.browser.open(`/approve/${body.approval.id}`), "form") ?? ""
    await owner.browser.send(`/approve/${body.approval.id}`, { form: ownerForm, verdict: "approve" })
    await service.call("/v1/actions/confirm", { method: "POST", key, body: { confirmToken: body.confirmToken } })
    expect(await listAudit(sql, { workspaceId, rights: null, limit: 1 })).toMatchObject([{ approvedBy: owner.name }])
  })

  slow("an assistant never has more rights than its person, even after the person's rights are reduced", async () => {
    const viewer = await memberOf(service, workspaceId, "viewer-without-money")
    const clientId = await register(service)
    const { challenge } = pkce()
    const page = await viewer.browser.open(`/oauth/authorize?${queryOf(clientId, challenge)}`)
    expect(scopesOn(page, "all").toSorted()).toEqual([...scopesOf("viewer-without-money")].toSorted())
    const forged = await agree(viewer.browser, page, { scopes: ["track:write", "revenue:read", "workspace:manage"] })
    expect([forged.status, forged.headers.get("refresh")]).toEqual([400, null])
    const mixed = answerIn(await agree(viewer.browser, page, { scopes: ["apps:read", "track:write"] }))
    const [row] = await sql<{ scopes: string[] }[]>`select scopes from oauth_code order by expires_at desc limit 1`
    expect([mixed.searchParams.has("code"), row?.scopes]).toEqual([true, ["apps:read"]])

    const editor = await memberOf(service, workspaceId, "editor")
    const assistant = await assistantOf(editor, ["apps:read", "track:write"])
    const preview = (target: Service) =>
      target.tool(
        "preview_action",
        { action: "add_keywords", args: { appId: app, keywords: ["tea"] } },
        { key: assistant.access },
      )
    expect((await preview(service)).isError).toBe(false)
    await sql.begin((tx) =>
      changeRights(tx, workspaceId, editor.personId, { scopes: scopesOf("viewer"), appList: null }),
    )
    expect((await preview(otherProcess())).body).toMatchObject({ error: "scope_required", scope: "track:write" })
    expect((await refresh(service, assistant.clientId, assistant.refresh)).body.scope).toBe("apps:read")
  })

  test("a person, their key and their assistant see only the person's apps", async () => {
    const hidden = await trackOwn(sql, { workspaceId, iosId: String(2_100_000_000 + count) })
    const bo = await memberOf(service, workspaceId, "viewer", { apps: [app] })
    const [key, assistant] = [await keyOf(bo.personId), await assistantOf(bo, ["apps:read"])]
    expect((await bo.browser.open(`/app/apps/${hidden}`)).status).toBe(403)
    expect((await bo.browser.open(`/app/apps/${app}`)).status).toBe(200)
    const { body } = await service.call("/v1/apps", { key })
    expect(body.apps.map(({ id }: { id: string }) => id)).toEqual([app])
    expect((await service.call(`/v1/apps/${hidden}/keywords`, { key })).body.error).toBe("app_not_allowed")
    expect((await service.tool("list_keyword_ranks", { appId: hidden }, { key: assistant.access })).body.error).toBe(
      "app_not_allowed",
    )
  })

  test("a person's key lacks the scopes that the person lacks, and no key can have workspace:manage", async () => {
    const viewer = await memberOf(service, workspaceId, "viewer")
    const key = await keyOf(viewer.personId)
    const args = { appId: app, keywords: ["tea"] }
    const { body } = await service.call("/v1/actions", { method: "POST", key, body: { action: "add_keywords", args } })
    expect(body).toMatchObject({ error: "scope_required", scope: "track:write" })
    for (const scope of ["workspace:manage", "server:operate"])
      expect(
        await errorOf(
          createKey(sql, { workspace, kind: "live", name: "x", scopes: [scope as "apps:read"] }, randomBytes),
        ),
      ).toHaveProperty("message", expect.stringContaining("there is no such scope"))
  })

  test("only a person who manages the workspace sees its keys", async () => {
    const editor = await memberOf(service, workspaceId, "editor")
    const statusFor = async ({ browser }: Member) => (await browser.open("/app/settings/keys")).status
    expect([await statusFor(owner), await statusFor(editor)]).toEqual([200, 403])
  })

  test("the last person who manages a workspace can be neither removed nor demoted", async () => {
    const message = "a workspace needs at least one person who manages it"
    const demoting = sql.begin((tx) =>
      changeRights(tx, workspaceId, owner.personId, { scopes: scopesOf("editor"), appList: null }),
    )
    expect(await errorOf(demoting)).toHaveProperty("message", message)
    expect(await errorOf(sql.begin((tx) => removeMember(tx, workspaceId, owner.personId)))).toHaveProperty(
      "message",
      message,
    )
    expect((await owner.browser.open("/app")).status).toBe(200)
    const other = await memberOf(service, workspaceId, "owner")
    const both = [owner, other].map(({ personId }) => sql.begin((tx) => removeMember(tx, workspaceId, personId)))
    expect((await Promise.allSettled(both)).map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"])
  })
})

slow("all access of a removed person ends within a second in every process", async () => {
  const bo = await memberOf(service, workspaceId, "owner")
  await setPassphrase(sql, bo.personId, PASSPHRASE)
  bo.browser = await signedIn(service, workspaceId, bo.name)
  const [key, assistant] = [await keyOf(bo.personId), await assistantOf(bo, ["apps:read"])]
  const [code, invitation] = [await createCode(sql, workspaceId, bo.name), await invite("owner", bo)]
  // Sign-ins that are not finished: a consent whose tokens are not fetched yet, and a sign-in that waits for its second
  // step. The code of that step is correct.
  const consent = await consentOf(bo)
  await sql`
    insert into second_factor (person_id, sealed, confirmed_at, recovery)
    values (${bo.personId}, 'v1', now(), array[${hash("sha256", `recovery code of ${bo.personId} ${"B".repeat(16)}`)}])`
  const halfway = browserOf(service, { from: anotherAddress() })
  const step = await halfway.send("/sign-in", { name: bo.name, passphrase: PASSPHRASE })
  expect(step.headers.get("location")).toStartWith("/sign-in/second-step")
  const processes = [otherProcess(), otherProcess()]
  const outcomes = async () =>
    await Promise.all(
      processes.map(async (process) => {
        const browser = browserOf(process, { from: anotherAddress() })
        for (const [name, value] of bo.browser.cookies) browser.cookies.set(name, value)
        return [
          (await browser.open("/app")).status,
          (await process.call("/v1/apps", { key })).status,
          (await process.tool("list_apps", {}, { key: assistant.access })).status,
        ]
      }),
    )
  expect(await outcomes()).toEqual([
    [200, 200, 200],
    [200, 200, 200],
  ])
  await sql.begin((tx) => removeMember(tx, workspaceId, bo.personId))
  await Bun.sleep(1_000)
  expect(await outcomes()).toEqual([
    [303, 401, 401],
    [303, 401, 401],
  ])
  expect((await refresh(service, assistant.clientId, assistant.refresh)).body.error).toBe("invalid_grant")
  expect((await post(service, "/oauth/token", consent)).body.error).toBe("invalid_grant")
  expect((await halfway.send("/sign-in/second-step", { code: "B".repeat(16) })).status).toBe(403)
  expect((await halfway.open("/app")).status).toBe(303)
  expect((await browserOf(service, { from: anotherAddress() }).send("/sign-in", { code })).status).toBe(403)
  expect((await join(invitation, `Bo again ${count}`)).status).toBe(404)
  const passphrase = { name: bo.name, passphrase: PASSPHRASE }
  expect((await browserOf(service, { from: anotherAddress() }).send("/sign-in", passphrase)).status).toBe(403)
})

describe("asking for the passphrase again", () => {
  const elapse = () => sql`update person_session set proved_at = now() - interval '11 minutes'`

  /**
   * Requests a write that waits for approval. Returns functions that send the form of its page and read the verdict.
   */
  async function approvalForm(browser: Browser) {
    await setApprovalRule(sql, workspaceId, null, { actions: ["all"] })
    const key = await service.key(workspaceId)
    const args = { appId: app, keywords: ["matcha"] }
    const { body } = await service.call("/v1/actions", { method: "POST", key, body: { action: "add_keywords", args } })
    const path = `/approve/${body.approval.id}`
    const form = fieldIn(await browser.open(path), "form") ?? ""
    const send = (proof?: string) =>
      browser.send(path, { form, verdict: "approve", ...(proof !== undefined && { proof }) })
    const verdict = async () =>
      (await sql<{ verdict: string | null }[]>`select verdict from approval where id = ${body.approval.id}`)[0]?.verdict
    return { send, verdict }
  }

  slow("ten minutes after the sign-in an approval asks for the passphrase and then succeeds", async () => {
    await setPassphrase(sql, owner.personId, PASSPHRASE)
    const browser = await signedIn(service, workspaceId, owner.name)
    const { send, verdict } = await approvalForm(browser)
    await elapse()
    const response = await send()
    expect([response.status, fieldIn(response, "verdict"), await verdict()]).toEqual([403, "approve", null])
    const wrong = await send(`${PASSPHRASE}?`)
    expect([wrong.text.includes("The passphrase is not right."), await verdict()]).toEqual([true, null])
    expect(wrong.text).not.toContain(`${PASSPHRASE}?`)
    expect([(await send(PASSPHRASE)).status, await verdict()]).toEqual([303, "approved"])
    const next = await approvalForm(browser)
    expect([(await next.send()).status, await next.verdict()]).toEqual([303, "approved"])
  })

  test("a person without a passphrase approves with a new sign-in code", async () => {
    const { send, verdict } = await approvalForm(owner.browser)
    await elapse()
    expect((await send()).text).toContain("appmeter sign-in")
    const other = await memberOf(service, workspaceId, "owner")
    expect((await send(await createCode(sql, workspaceId, other.name))).status).toBe(403)
    expect([await verdict(), (await send(await createCode(sql, workspaceId, owner.name))).status]).toEqual([null, 303])
    expect(await verdict()).toBe("approved")
  })

  slow("wrong passphrases are limited in an approval in the same way as at the sign-in", async () => {
    await setPassphrase(sql, owner.personId, PASSPHRASE)
    const browser = await signedIn(service, workspaceId, owner.name)
    const { send, verdict } = await approvalForm(browser)
    await elapse()
    for (let tries = 0; tries < 6; tries++) await send("x")
    expect([(await send(PASSPHRASE)).text.includes("Too many tries"), await verdict()]).toEqual([true, null])
  })
})
