import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { setPassphrase } from "../../../src/access/sign-in/passphrase.ts"
import type { Sql } from "../../../src/database/types.ts"
import { alsoMember, type Member, memberOf, signedIn } from "../../access/people/scene.ts"
import { browserOf } from "../../access/sign-in/browser.ts"
import { deleteRows, freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import { readMarkup } from "../markup.ts"
import { settingsBrowser } from "./settings-browser.ts"

setDefaultTimeout(60_000)

const PEOPLE = "/app/settings/people"
const PROFILE = "/app/settings/profile"
const PASSPHRASE = "correct horse battery"

let sql: Sql
let service: Service
let workspaceId: number
let owner: Member
let count = 0

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
})

beforeEach(async () => {
  await deleteRows(sql, "secret_try")
  workspaceId = await service.workspace({ name: `acme ${++count}` })
  owner = await memberOf(service, workspaceId, "owner")
})

const peopleOf = ({ browser }: Member) => settingsBrowser(browser, PEOPLE)
const profileOf = ({ browser }: Member) => settingsBrowser(browser, PROFILE)

describe("people in the settings", () => {
  slow("an owner invites a person to some apps by a link, changes their role, and removes them", async () => {
    const app = await trackOwn(sql, { workspaceId, iosId: "2000000001" })
    const created = await peopleOf(owner).send("invite", { name: "Bo", role: "editor", appList: app })
    const link = /value="([^"]*\/invitation\?code=[\w-]{43})"/.exec(created.text)?.[1] ?? ""
    expect((await owner.browser.open(PEOPLE)).text).toContain("Open invitations")
    const bo = browserOf(service, { from: "192.0.2.77" })
    const fields = { code: new URL(link).searchParams.get("code") ?? "", name: `Bo ${count}`, passphrase: PASSPHRASE }
    expect((await bo.send("/invitation", fields)).status).toBe(303)
    const [member] = await sql<{ id: number; apps: string[]; scopes: string[] }[]>`
      select p.id, k.app_list as apps, k.scopes
      from person p
      join membership m on m.person_id = p.id
      join api_key k on k.id = m.key_id
      where p.name = ${`Bo ${count}`}`
    expect([member?.apps, member?.scopes.includes("track:write")]).toEqual([[app], true])
    const id = String(member?.id)
    expect((await peopleOf(owner).send("role", { id, role: "viewer" })).headers.get("location")).toContain(
      "done=changed",
    )
    expect((await owner.browser.open(PEOPLE)).text).toContain("Viewer")
    expect((await peopleOf(owner).send("remove", { id })).text).toContain(`Remove Bo ${count}?`)
    await peopleOf(owner).send("removed", { id })
    expect((await bo.open("/app")).status).toBe(303)
    const actors = await sql<{ actor: string; command: string }[]>`
      select actor, command
      from operator_action
      order by id desc
      limit 3`
    expect(actors.map(({ command }) => command)).toEqual(["person remove", "person role", "person invite"])
    expect(new Set(actors.map(({ actor }) => actor))).toEqual(new Set([`${owner.name}, on a page`]))
  })

  test("an editor cannot open or send the people form; a manager grants only rights that the manager has", async () => {
    const editor = await memberOf(service, workspaceId, "editor")
    expect((await editor.browser.open(PEOPLE)).status).toBe(403)
    expect((await peopleOf(editor).send("invite", { name: "Mallory", role: "owner" })).status).toBe(403)
    const manager = await memberOf(service, workspaceId, ["apps:read", "workspace:manage"])
    for (const form of [
      peopleOf(manager).send("invite", { name: "Mallory", role: "owner" }),
      peopleOf(manager).send("role", { id: String(manager.personId), role: "owner" }),
    ])
      expect(await form).toMatchObject({ status: 400, text: expect.stringContaining("You cannot give") })
    expect([...(await sql`select id from invitation where workspace_id = ${workspaceId}`)]).toEqual([])
  })

  test("nobody can change people of another workspace, and the last owner cannot be removed", async () => {
    const stranger = await memberOf(service, await service.workspace(), "owner")
    for (const form of ["role", "remove", "removed"])
      expect((await peopleOf(stranger).send(form, { id: String(owner.personId), role: "viewer" })).status).toBe(400)
    const last = await peopleOf(owner).send("removed", { id: String(owner.personId) })
    expect([last.status, last.text.includes("needs at least one person who manages it")]).toEqual([400, true])
  })

  slow("ten minutes after the sign-in, an invitation asks for the passphrase and is then created", async () => {
    await setPassphrase(sql, owner.personId, PASSPHRASE)
    owner.browser = await signedIn(service, workspaceId, owner.name)
    await sql`update person_session set proved_at = now() - interval '11 minutes'`
    const fields = { name: "Carol", role: "viewer" }
    const question = await peopleOf(owner).send("invite", fields)
    expect([question.status, question.text.includes("Confirm that it is you")]).toEqual([403, true])
    expect((await peopleOf(owner).send("invite", { ...fields, proof: "wrong" })).status).toBe(403)
    const done = await peopleOf(owner).send("invite", { ...fields, proof: PASSPHRASE })
    expect([done.status, done.text.includes("/invitation?code=")]).toEqual([200, true])
  })
})

describe("the profile", () => {
  slow("a viewer changes name and passphrase, and a new passphrase ends the other sessions", async () => {
    const viewer = await memberOf(service, workspaceId, "viewer")
    const other = await signedIn(service, workspaceId, viewer.name)
    await profileOf(viewer).send("rename", { name: `Dora ${count}` })
    await profileOf(viewer).send("passphrase", { passphrase: PASSPHRASE })
    expect([(await viewer.browser.open("/app")).status, (await other.open("/app")).status]).toEqual([200, 303])
    const wrong = await profileOf(viewer).send("passphrase", { current: "guess", passphrase: `${PASSPHRASE} 2` })
    expect([wrong.status, wrong.text.includes("This is not your passphrase.")]).toEqual([400, true])
    const browser = browserOf(service, { from: "192.0.2.78" })
    expect((await browser.send("/sign-in", { name: `dora ${count}`, passphrase: PASSPHRASE })).status).toBe(303)
  })

  test("a person lists and ends only their own sessions and keys", async () => {
    const viewer = await memberOf(service, workspaceId, "viewer")
    const other = await signedIn(service, workspaceId, viewer.name)
    const key = await settingsBrowser(owner.browser, "/app/settings/keys").send("create", {
      name: "nightly job",
      kind: "live",
      scopes: "apps:read",
    })
    expect(key.status).toBe(200)
    const idOf = async (personId: number) =>
      (await sql<{ id: number }[]>`select max(id)::int as id from person_session where person_id = ${personId}`)[0]?.id
    expect((await profileOf(viewer).send("end", { id: String(await idOf(owner.personId)) })).status).toBe(400)
    expect((await owner.browser.open("/app")).status).toBe(200)
    await profileOf(viewer).send("end", { id: String(await idOf(viewer.personId)) })
    expect((await other.open("/app")).status).toBe(303)
    const [row] = await sql<
      { id: number }[]
    >`select max(id)::int as id from api_key where person_id = ${owner.personId}`
    expect((await profileOf(viewer).send("revoke", { id: String(row?.id) })).status).toBe(400)
    expect((await owner.browser.open(PROFILE)).text).toContain("nightly job")
    await profileOf(owner).send("revoke", { id: String(row?.id) })
    expect((await owner.browser.open(PROFILE)).text).not.toContain("nightly job")
  })

  test("the profile lists the person's other workspaces; the profile and people pages are well-formed", async () => {
    const otherWorkspace = await service.workspace({ name: `other ${count}` })
    await alsoMember(service, otherWorkspace, owner.personId, "owner")
    for (const page of [PROFILE, PEOPLE]) {
      const { unbalanced, bare, ids } = readMarkup(
        (await owner.browser.open(page)).text.replace(/<script>[\s\S]*<\/script>/, ""),
      )
      expect([page, unbalanced, bare, ids.length]).toEqual([page, [], [], new Set(ids).size])
    }
    expect((await owner.browser.open(PROFILE)).text).toContain(`other ${count}`)
  })
})
