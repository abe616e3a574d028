import * as v from "valibot"
import { readApprovalRule } from "../../access/approval-rules.ts"
import { operation } from "../../core/operation.ts"
import { Fault } from "../../lib/faults.ts"
import { described } from "../../lib/schema.ts"
import { Count, Time } from "../../lib/shapes.ts"
import { listApprovals as readApprovals, settleApproval as settle } from "../../writes/approvals.ts"
import { refuseLimited, shared } from "./workspace.ts"

export const listApprovals = operation({
  ...shared,
  id: "list_approvals",
  path: "/page/approvals",
  summary: "Writes that wait for approval, and the actions that need one.",
  scope: null,
  output: v.strictObject({
    required: described(v.array(v.string()), "Actions that need an approval with every key of the workspace."),
    approvals: v.array(
      v.strictObject({
        id: v.string(),
        action: v.string(),
        summary: v.string(),
        before: v.record(v.string(), v.unknown()),
        after: v.record(v.string(), v.unknown()),
        notes: v.array(v.string()),
        credits: Count,
        destructive: v.boolean(),
        key: v.nullable(v.string()),
        expiresAt: Time,
      }),
    ),
  }),
}).run(async (_, { sql, caller }) => {
  refuseLimited(caller)
  const rule = await readApprovalRule(sql, caller.workspaceId, null)
  const { workspaceId, scopes: rights } = caller
  const approvals = await readApprovals(sql, { workspaceId, rights })
  return {
    required: rule?.actions ?? [],
    approvals: approvals.map(({ id, action, shown, key, expiresAt }) => ({
      id,
      action,
      summary: shown.summary,
      before: shown.before,
      after: shown.after,
      notes: shown.notes,
      credits: shown.credits,
      destructive: shown.destructive,
      key: key.name,
      expiresAt: expiresAt.toISOString(),
    })),
  }
})

/**
 * Only a page of a signed-in person calls this operation. A key, and therefore an assistant, cannot approve its own
 * writes.
 */
export const settleApproval = operation({
  ...shared,
  method: "POST",
  id: "settle_approval",
  path: "/page/approvals",
  summary: "Approves or declines a waiting write for good.",
  asksProof: ({ verdict }) => verdict === "approved",
  effect: "writes",
  scope: null,
  input: v.strictObject({
    id: v.pipe(v.string(), v.maxLength(40)),
    verdict: v.picklist(["approved", "declined"]),
  }),
  output: v.strictObject({ settled: described(v.boolean(), "False if the write no longer waited.") }),
}).run(async ({ id, verdict }, { sql, caller }) => {
  refuseLimited(caller)
  const { workspaceId, person, scopes } = caller
  const [approval] = await readApprovals(sql, { workspaceId, id, rights: null })
  if (approval && !scopes.includes(approval.scope)) throw new Fault("scope_required", { scope: approval.scope })
  const by = person?.name ?? "a person, on a page"
  const settled = await settle(sql, { workspaceId, id }, { verdict, by, scopes })
  return { settled }
})
