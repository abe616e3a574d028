import { randomBytes as secureBytes } from "node:crypto"
import { type Action, changes, type Diff, type LookContext } from "../core/action.ts"
import type { Context } from "../core/operation.ts"
import type { RandomBytes } from "../lib/text.ts"
import { type ApprovalTerms, openApproval } from "./approvals.ts"
import { issueToken, seenOf } from "./tokens.ts"

interface PreviewAnswer {
  preview: Diff
  /** Credits of the confirm. */
  credits: number
  confirmToken: string
  expiresAt: Date
  /** Null where nobody outside the assistant must approve it. */
  approval: ApprovalTerms | null
}

/** Says what a write would do and gives the token that does it. Changes nothing but the list of tokens. */
export async function preview(
  action: Action,
  asked: Record<string, unknown>,
  ctx: Context,
  randomBytes: RandomBytes = secureBytes,
): Promise<PreviewAnswer> {
  const { sql, caller, now, measure } = ctx
  const looking: LookContext = { sql, caller, lock: false, now: now() }
  const args = (await action.settle?.(asked, looking, measure)) ?? asked
  const state = await action.look(args, looking)
  const diff = action.diff(state, args, await readOutside(action, args, ctx))
  const kept = action.secrets ? await action.secrets.kept(args) : args
  const token = await issueToken(sql, caller, { action: action.name, args: kept, seen: seenOf(diff) }, randomBytes)
  const credits = costOf(action, diff)
  const waiting = {
    action: action.name,
    token: token.confirmToken,
    publicUrl: ctx.publicUrl,
    shown: { ...diff, credits, destructive: action.destructive },
  }
  const approval = changes(diff) ? await openApproval(sql, caller, waiting, randomBytes) : null
  return { preview: diff, credits, ...token, approval }
}

/** A write that changes nothing costs nothing. */
export function costOf({ credits }: Action, diff: Diff): number {
  return changes(diff) ? credits : 0
}

const OUTSIDE_MS = 3_500

/** An outside target as it is now; undefined for a write to our own database. Never inside a transaction. */
export async function readOutside(
  { outside }: Action,
  args: Record<string, unknown>,
  { sql, caller, requestId, platforms }: Context,
): Promise<unknown> {
  return await outside?.read?.(args, {
    signal: AbortSignal.timeout(OUTSIDE_MS),
    idempotencyKey: requestId,
    workspaceId: caller.workspaceId,
    appId: appIdOf(args),
    sql,
    platforms,
  })
}

/** The workspace's app that a write is about, for those that name one. */
export function appIdOf(args: Record<string, unknown>): string | null {
  return typeof args.appId === "string" ? args.appId : null
}
