import { beforeAll, beforeEach, expect, test } from "bun:test"
import { setApprovalRule } from "../../src/access/approval-rules.ts"
import { changedLines } from "../../src/tracking/actions/changed-lines.ts"
import { listApprovals, settleApproval } from "../../src/writes/approvals.ts"
import { runHere } from "../commands/here.ts"
import { scratchUrl } from "../database.ts"
import { CAPABILITIES, ENVELOPE, modern, post } from "../http/tools-messages.ts"
import { type Answer, PUBLIC_URL } from "../service.ts"
import { prepareScene } from "./scene.ts"

// If a workspace or key requires it, a person outside the assistant approves a write before it can be confirmed.

const scene = prepareScene()
let env: Record<string, string>

beforeAll(async () => {
  // commands use the same database if they can reach it
  if (!process.env.DATABASE_URL) return
  env = { DATABASE_URL: scratchUrl(scene.sql) }
})

beforeEach(() => require_(["add_keywords"]))

const require_ = (actions: string[], askingCounts = false, keyId: number | null = null) =>
  setApprovalRule(scene.sql, scene.workspace, keyId, keyId === null ? { actions, askingCounts } : { actions })
const previewed = async (keyword = "coffee") =>
  (await scene.preview("add_keywords", { appId: scene.app, keywords: [keyword] })).body
const outcomeOf = ({ status, body }: Answer) => [status, body.error ?? body.status, body.reason]
const settle = (id: string, verdict: "approved" | "declined", workspaceId = scene.workspace) =>
  settleApproval(scene.sql, { workspaceId, id }, { verdict, by: "ada", scopes: null })

test("a confirm is refused until a person approves the write, and the audit names the approver", async () => {
  const { approval, confirmToken } = await previewed()
  expect(approval).toEqual({
    id: expect.stringMatching(/^ap_[0-9a-f]{18}$/),
    address: `${PUBLIC_URL}/approve/${approval.id}`,
    command: `appmeter approve ${approval.id}`,
    askingCounts: false,
  })
  const refused = await scene.confirm(confirmToken)
  expect(outcomeOf(refused)).toEqual([403, "write_limit_reached", "approval_needed"])
  expect(refused.body.detail).toContain(`${PUBLIC_URL}/approve/${approval.id} or with: appmeter approve ${approval.id}`)
  expect([await scene.audits(), await scene.ledger()]).toEqual([[], []])
  expect(await settle(approval.id, "approved")).toBe(true)
  expect(outcomeOf(await scene.confirm(confirmToken))).toEqual([200, "applied", undefined])
  expect(await scene.audits()).toMatchObject([{ action: "add_keywords", approved_by: "ada" }])
})

test("the person sees the same preview as the assistant, with its credits", async () => {
  const { approval, preview, credits, destructive } = await previewed()
  const [waiting, ...rest] = await listApprovals(scene.sql, { workspaceId: scene.workspace, rights: null })
  expect(rest).toEqual([])
  expect(waiting).toMatchObject({ id: approval.id, action: "add_keywords", key: { name: "test" }, verdict: null })
  expect(waiting!.shown).toEqual({ ...preview, credits, destructive })
  expect(changedLines(waiting!.shown).join()).toContain("coffee")
})

test("a declined write is never confirmed with its token, and a later approval has no effect", async () => {
  const { approval, confirmToken } = await previewed()
  expect(await settle(approval.id, "declined")).toBe(true)
  expect(await settle(approval.id, "approved")).toBe(false)
  expect(outcomeOf(await scene.confirm(confirmToken))).toEqual([403, "write_limit_reached", "approval_declined"])
  expect(await scene.audits()).toEqual([])
})

test("an approval covers the preview that was shown; a changed target needs a new approval", async () => {
  const { approval, confirmToken } = await previewed()
  await settle(approval.id, "approved")
  await require_([])
  await scene.applied("add_keywords", { appId: scene.app, keywords: ["kettle", "coffee"] })
  await require_(["add_keywords"])
  expect(outcomeOf(await scene.confirm(confirmToken))).toEqual([409, "confirm_token_mismatch", undefined])
  const next = await previewed("teapot")
  expect(outcomeOf(await scene.confirm(next.confirmToken))).toEqual([403, "write_limit_reached", "approval_needed"])
})

test("an approval is refused if the write is missing, has expired or belongs to another workspace", async () => {
  const { approval } = await previewed()
  const other = await scene.service.workspace()
  expect(await settle(approval.id, "approved", other)).toBe(false)
  expect(await listApprovals(scene.sql, { workspaceId: other, rights: null })).toEqual([])
  await scene.sql`
    update confirm_token
    set created_at = now() - interval '601 s'
    where workspace_id = ${scene.workspace}`
  expect(await settle(approval.id, "approved")).toBe(false)
  expect(await settle("ap_000000000000000000", "approved")).toBe(false)
  expect(await listApprovals(scene.sql, { workspaceId: scene.workspace, rights: null })).toEqual([])
})

test("a write needs no approval if no rule covers its action and key or if it changes nothing", async () => {
  expect((await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea"] })).body.approval).toBe(null)
  expect((await previewed("tea")).approval).toBe(null)
  await require_([])
  const [{ id }] = await scene.sql<
    [{ id: number }]
  >`select max(id) as id from api_key where workspace_id = ${scene.workspace}`
  await require_(["all"], false, id)
  expect((await previewed()).approval).not.toBe(null)
  const other = await scene.service.key(scene.workspace)
  const args = { appId: scene.app, keywords: ["coffee"] }
  expect((await scene.preview("add_keywords", args, other)).body.approval).toBe(null)
})

test("an approval rule added after the preview applies to its confirm, which requires a new preview", async () => {
  await require_([])
  const { approval, confirmToken } = await previewed()
  expect(approval).toBe(null)
  await require_(["all"])
  const refused = await scene.confirm(confirmToken)
  expect(outcomeOf(refused)).toEqual([403, "write_limit_reached", "approval_needed"])
  expect(refused.body.detail).toContain("Preview again")
})

test("before the approval all simultaneous confirms are refused, and after it exactly one succeeds", async () => {
  const { approval, confirmToken } = await previewed()
  const confirms = (count: number) => Promise.all(Array.from({ length: count }, () => scene.confirm(confirmToken)))
  const before = (await confirms(20)).map(({ body }) => body.error)
  // one confirm at a time reads the target, and the other confirms get in_progress
  expect(before.filter((error) => !["write_limit_reached", "in_progress"].includes(error))).toEqual([])
  await settle(approval.id, "approved")
  const after = (await confirms(30)).map(({ status }) => status)
  expect(after.filter((status) => status === 200)).toHaveLength(1)
  expect(await scene.audits()).toHaveLength(1)
})

/** Calls confirm_action as a client that asks its person, who approves. */
async function confirmWithConsent(confirmToken: string) {
  const call = async (more: object) => {
    const _meta = { ...ENVELOPE, [CAPABILITIES]: { elicitation: { form: {} } } }
    const params = { _meta, name: "confirm_action", arguments: { confirmToken }, ...more }
    const { message, headers } = modern("tools/call", params)
    return (await post(scene.service, message, { key: scene.key, headers })).body.result
  }
  const response = await call({})
  if (response.resultType !== "input_required") return response
  const { requestState } = response
  return await call({ requestState, inputResponses: { approval: { action: "accept", content: {} } } })
}

test("an approval in the client is accepted only if the workspace allows it, and is stored in the audit", async () => {
  const { confirmToken } = await previewed()
  const refused = await confirmWithConsent(confirmToken)
  expect(JSON.parse(refused.content[0].text)).toMatchObject({ reason: "approval_needed" })
  await require_(["add_keywords"], true)
  expect((await confirmWithConsent(confirmToken)).structuredContent).toMatchObject({ status: "applied" })
  expect(await scene.audits()).toMatchObject([{ approved_by: "the person at the client, as it says" }])
})

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: the command line shows the preview, approves, declines and explains refusals",
  async () => {
    const name = (await scene.sql<{ name: string }[]>`select name from workspace where id = ${scene.workspace}`)[0]!
      .name
    const { approval, confirmToken } = await previewed("caf\u0007e")
    expect((await runHere(["approval", "list", "--workspace", name], { env })).out).toContain(approval.id)
    const unasked = await runHere(["approve", approval.id], { env, stdin: "" })
    expect([unasked.code, unasked.err]).toEqual([1, expect.stringContaining("--force")])
    expect(outcomeOf(await scene.confirm(confirmToken))).toEqual([403, "write_limit_reached", "approval_needed"])
    const { code, out, err } = await runHere(["approve", approval.id, "--force"], { env })
    expect([code, out]).toEqual([0, `approved ${approval.id}\n`])
    expect(err).toContain("add_keywords, by test: Track 1 keyword")
    expect(err).not.toContain("\u0007")
    expect(outcomeOf(await scene.confirm(confirmToken))).toEqual([200, "applied", undefined])
    expect((await scene.audits())[0]).toMatchObject({ approved_by: expect.stringMatching(/@.*, on the machine$/) })
    const repeated = await runHere(["approve", approval.id, "--force"], { env })
    expect([repeated.code, repeated.err]).toEqual([1, expect.stringContaining("was approved by")])
  },
)

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: the command line describes approval rules in words and refuses unknown actions",
  async () => {
    const name = (await scene.sql<{ name: string }[]>`select name from workspace where id = ${scene.workspace}`)[0]!
      .name
    const ask = (...args: string[]) => runHere(["approval", "require", ...args, "--workspace", name], { env })
    expect((await ask("all", "--asking", "yes")).out).toBe(
      "need approval outside the assistant or in the client: all\n",
    )
    expect((await previewed()).approval.askingCounts).toBe(true)
    expect((await ask("--none")).out).toBe("no write needs approval outside the assistant\n")
    for (const [args, why] of [
      [["add_kettle"], "unknown action"],
      [[], "give actions"],
      [["all", "--none"], "--none cannot be combined with actions"],
      [["all", "--asking", "maybe"], "must be yes or no"],
      [["all", "--key", "7", "--asking", "no"], "applies to the whole workspace"],
    ] as const) {
      const { code, err } = await ask(...args)
      expect([args, code, err]).toEqual([args, 2, expect.stringContaining(why)])
    }
    expect((await ask("all", "--key", "2147483000")).err).toContain("no key with id")
  },
)
