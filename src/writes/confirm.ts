import { randomBytes as secureBytes } from "node:crypto"
import { type ChargeResult, charge } from "../access/credits.ts"
import { type Action, changes, type Diff } from "../core/action.ts"
import { type Context, PaidAnswer } from "../core/operation.ts"
import { DatabaseUnavailable } from "../database/gate.ts"
import { json } from "../database/json.ts"
import { tryLock } from "../database/locks.ts"
import type { Tx } from "../database/types.ts"
import { enqueue, hasUnfinished } from "../jobs/enqueue.ts"
import { Fault } from "../lib/faults.ts"
import type { RandomBytes } from "../lib/text.ts"
import { assertApproved } from "./approvals.ts"
import { appIdOf, costOf, readOutside } from "./preview.ts"
import { lookUpToken, seenOf, type TokenContent, UNKNOWN_ACTION, useToken } from "./tokens.ts"

interface Confirmation {
  action: string
  status: "applied" | "queued" | "unchanged"
  /** Null if nothing was written, or if a job will write it. */
  appliedAt: string | null
  credits: number
  result: Record<string, unknown> | null
  jobId: string | null
}

/**
 * Applies the previewed write of a token, once. Token, write or job, charge and audit row are stored in one
 * transaction. Throws confirm_token_invalid, confirm_token_expired, confirm_token_mismatch with the new preview,
 * in_progress, and the faults of the action. Neither a fault nor a refused charge uses up the token.
 */
export async function confirm(
  find: (name: string) => Action | undefined,
  token: string,
  ctx: Context,
  randomBytes: RandomBytes = secureBytes,
): Promise<PaidAnswer> {
  const previewed = await lookUpToken(ctx.sql, ctx.caller, token)
  const action = find(previewed.action)
  // an older version previewed the action, which no longer exists
  if (!action) throw new Fault("confirm_token_invalid", { detail: UNKNOWN_ACTION })
  const outside = await readOutside(action, previewed.args, ctx)
  try {
    return await ctx.sql.begin(async (tx) => {
      refuseLate(ctx)
      await useToken(tx, ctx.caller, token)
      const settled = await apply(tx, { action, previewed, token, outside, ctx, randomBytes })
      // the caller already got a timeout and will retry with the same token
      refuseLate(ctx)
      return settled
    })
  } catch (error) {
    if (error instanceof ChargeRefusal) return new PaidAnswer(null, 0, error.paid)
    throw error
  }
}

function refuseLate({ givenUp }: Context): void {
  if (givenUp()) throw new DatabaseUnavailable("deadline", "the caller was answered before the write could end")
}

/** Thrown if the charge is refused, so that the transaction is rolled back and nothing of the write remains. */
class ChargeRefusal extends Error {
  readonly paid: ChargeResult
  constructor(paid: ChargeResult) {
    super("unpaid")
    this.paid = paid
  }
}

interface ConfirmParts {
  action: Action
  previewed: TokenContent
  token: string
  /** The state of the outside target, read before the transaction. */
  outside: unknown
  ctx: Context
  randomBytes: RandomBytes
}

async function apply(tx: Tx, applying: ConfirmParts): Promise<PaidAnswer> {
  const { action, previewed, outside, ctx } = applying
  const { args, seen } = previewed
  const { caller } = ctx
  await holdTarget(tx, caller.workspaceId, action.target(args))
  const state = await action.look(args, { sql: tx, caller, lock: true, now: ctx.now() })
  const diff = action.diff(state, args, outside)
  if (seenOf(diff) !== seen) throw new Fault("confirm_token_mismatch", { preview: { ...diff } })
  if (!changes(diff)) return new PaidAnswer(unchanged(action), 0, null)
  const approvedBy = await assertApproved(tx, caller, {
    action: action.name,
    token: applying.token,
    agreed: ctx.agreed,
    publicUrl: ctx.publicUrl,
  })
  const result = action.write ? await action.write(args, state, { tx, caller, publicUrl: ctx.publicUrl }) : null
  const jobId = action.outside ? await hand(tx, applying, { diff, accountId: action.account?.(state) ?? null }) : null
  const cost = costOf(action, diff)
  const paid = cost > 0 ? await pay(tx, ctx, action, cost) : null
  const at = await writeDown(tx, ctx, { action, args, diff, cost, result, jobId, approvedBy })
  const status = jobId ? "queued" : "applied"
  const appliedAt = jobId ? null : at
  const answer: Confirmation = { action: action.name, status, appliedAt, credits: cost, result, jobId }
  return new PaidAnswer(answer, cost, paid)
}

async function holdTarget(tx: Tx, workspaceId: number, target: string): Promise<void> {
  const isMine = await tryLock(tx, "write", workspaceId, target)
  // another confirm writes this target, or a job for it is unfinished
  if (!isMine || (await hasUnfinished(tx, workspaceId, target))) throw new Fault("in_progress")
}

function unchanged({ name }: Action): Confirmation {
  return { action: name, status: "unchanged", appliedAt: null, credits: 0, result: null, jobId: null }
}

/** Hands the write to a job. The job reads the outside target again before it sends anything. */
async function hand(
  tx: Tx,
  { action, previewed, outside, ctx, randomBytes }: ConfirmParts,
  { diff, accountId }: { diff: Diff; accountId: string | null },
): Promise<string> {
  const { args } = previewed
  const { workspaceId, keyId } = ctx.caller
  const { summary, target: shown } = diff
  const job = {
    workspaceId,
    keyId,
    requestId: ctx.requestId,
    action: action.name,
    scope: action.scope,
    target: action.target(args),
    appId: appIdOf(args),
    accountId,
    shown: { summary, target: shown },
    args,
    before: outside ?? null,
  }
  return await enqueue(tx, job, randomBytes)
}

async function pay(tx: Tx, { caller, requestId }: Context, { name }: Action, cost: number): Promise<ChargeResult> {
  const { workspaceId, keyId } = caller
  const [paid] = await charge(tx, [{ workspaceId, keyId, cost, operation: name, requestId }], true)
  if (!paid) throw new Error("a charge that waits for its account was not decided")
  if (paid.refused) throw new ChargeRefusal(paid)
  return paid
}

interface CompletedWrite {
  action: Action
  args: Record<string, unknown>
  diff: Diff
  cost: number
  result: Record<string, unknown> | null
  jobId: string | null
  approvedBy: string | null
}

async function writeDown(
  tx: Tx,
  { caller, requestId }: Context,
  { action, args, diff, cost, result, jobId, approvedBy }: CompletedWrite,
): Promise<string> {
  const appId = appIdOf(args) ?? appIdOf(result ?? {})
  const [row] = await tx<[{ at: Date }]>`
    insert into audit
      (workspace_id, key_id, request_id, action, scope, target, app_id, args, preview, credits, result, job_id,
        approved_by)
    values (
      ${caller.workspaceId}, ${caller.keyId}, ${requestId}, ${action.name}, ${action.scope}, ${action.target(args)},
      ${appId},
      ${json(tx, action.secrets?.audited(args) ?? args)}, ${json(tx, diff)}, ${cost},
      ${result && json(tx, without(result, action.shownOnce))}, ${jobId}, ${approvedBy}
    )
    returning at`
  return row.at.toISOString()
}

function without(result: Record<string, unknown>, names: readonly string[] = []): Record<string, unknown> {
  return Object.fromEntries(Object.entries(result).filter(([name]) => !names.includes(name)))
}
