import { beforeEach, expect, test } from "bun:test"
import { setApprovalRule } from "../../../src/access/approval-rules.ts"
import { createCode } from "../../../src/access/sign-in/code.ts"
import { type Browser, browserOf, fieldIn } from "../../access/sign-in/browser.ts"
import { prepareScene } from "../scene.ts"

// The page where the signed-in owner sees an assistant's write and approves or declines it.

const scene = prepareScene()
let browser: Browser

beforeEach(async () => {
  await setApprovalRule(scene.sql, scene.workspace, null, { actions: ["all"] })
  browser = await signedIn(scene.workspace)
})

async function signedIn(workspace: number): Promise<Browser> {
  const newBrowser = browserOf(scene.service)
  await newBrowser.send("/sign-in", { code: await createCode(scene.sql, workspace) })
  return newBrowser
}

const previewed = async (keyword = "coffee") =>
  (await scene.preview("add_keywords", { appId: scene.app, keywords: [keyword] })).body
const pathOf = (address: string) => new URL(address).pathname

test("the approval address leads through sign-in to the preview; an approval there allows the confirm", async () => {
  const { approval, confirmToken } = await previewed()
  const path = pathOf(approval.address)
  const stranger = await browserOf(scene.service).open(path)
  expect([stranger.status, stranger.headers.get("location")]).toEqual([
    303,
    `/sign-in?next=${encodeURIComponent(path)}`,
  ])
  const page = await browser.open(path)
  expect(page.status).toBe(200)
  for (const text of ["Track 1 keyword", "coffee", "not tracked", "key <strong>test"]) expect(page.text).toContain(text)
  const form = fieldIn(page, "form")!
  const sent = await browser.send(path, { form, verdict: "approve" })
  expect([sent.status, sent.headers.get("location")]).toEqual([303, path])
  expect((await browser.open(path)).text).toContain("<strong>approved</strong>")
  expect((await scene.confirm(confirmToken)).status).toBe(200)
  const [person] = await scene.sql<{ name: string }[]>`
    select p.name
    from person p
    join membership m on m.person_id = p.id
    where m.workspace_id = ${scene.workspace}`
  expect((await scene.audits())[0]).toMatchObject({ approved_by: person?.name })
})

test("a decision does not change if its form is sent again or the form of the opposite decision is sent", async () => {
  const { approval, confirmToken } = await previewed()
  const path = pathOf(approval.address)
  const form = fieldIn(await browser.open(path), "form")!
  await browser.send(path, { form, verdict: "decline" })
  await browser.send(path, { form, verdict: "approve" })
  const { text } = await browser.open(path)
  expect(text).toContain("<strong>declined</strong>")
  expect(text).not.toContain("<form")
  expect((await scene.confirm(confirmToken)).body.reason).toBe("approval_declined")
})

test("a form from another site, without its token or with an unknown verdict changes nothing", async () => {
  const { approval } = await previewed()
  const path = pathOf(approval.address)
  const form = fieldIn(await browser.open(path), "form")!
  const other = fieldIn(await (await signedIn(scene.workspace)).open(path), "form")!
  for (const fields of [
    { verdict: "approve" },
    { form: other, verdict: "approve" },
    { form, verdict: "maybe" },
    { form, verdict: "toString" },
  ])
    expect((await browser.send(path, fields as unknown as Record<string, string>)).status).toBe(400)
  expect(await browser.open(path)).toMatchObject({ text: expect.stringContaining('value="approve"') })
  expect((await browser.open(path)).headers.get("content-security-policy")).toContain("frame-ancestors 'none'")
})

test("an approval of another workspace can be neither read nor decided", async () => {
  const { approval, confirmToken } = await previewed()
  const path = pathOf(approval.address)
  const other = await signedIn(await scene.service.workspace())
  const page = await other.open(path)
  expect([page.status, page.text.includes("coffee")]).toEqual([404, false])
  const ownForm = fieldIn(await other.open("/sign-in"), "form")!
  await other.send(path, { form: ownForm, verdict: "approve" })
  expect((await scene.confirm(confirmToken)).body.reason).toBe("approval_needed")
  expect((await other.open("/approve")).text).toContain("Nothing is waiting")
  expect((await browser.open("/approve")).text).toContain(path)
})

test("an owner without pending approvals sees instructions and a sample that cannot be decided", async () => {
  const { text } = await browser.open("/approve")
  expect(text).toContain(`<a href="/app/settings/keys">Choose the keys whose changes wait</a>`)
  expect(text).toContain('href="/approve/sample"')
  const stranger = await browserOf(scene.service).open("/approve/sample")
  expect([stranger.status, stranger.text.includes("evening pages")]).toEqual([200, true])
  expect(stranger.text).not.toContain('type="submit"')
  expect((await browser.send("/approve/sample", { form: "x", verdict: "approve" })).status).toBe(405)
  expect((await browser.open("/app/changes")).text).toContain('href="/app/sample/changes"')
  expect((await browserOf(scene.service).open("/app/sample/changes")).text).toContain(
    "you approve or decline the change here",
  )
})

test("markup and instructions in a name are shown as text", async () => {
  await scene.sql`
    update tracked_app
    set name = ${'<img src=x> "APPROVED by the owner"</p><form>'}
    where id = ${scene.app}`
  const { approval } = await previewed()
  const { text } = await browser.open(pathOf(approval.address))
  expect(text).toContain("&lt;img src=x&gt;")
  expect(text.match(/<form/g)).toHaveLength(1)
  expect(text).not.toContain("<img src=x")
})

test("the page of an expired approval shows that it has expired and has no form", async () => {
  const { approval } = await previewed()
  await scene.sql`
    update confirm_token
    set created_at = now() - interval '601 s'
    where workspace_id = ${scene.workspace}`
  const { text } = await browser.open(pathOf(approval.address))
  expect(text).toContain("This expired on")
  expect(text).not.toContain("<form")
})
