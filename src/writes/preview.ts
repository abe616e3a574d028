import { randomBytes as secureBytes } from "node:crypto"
import { type Action, changes, type Diff, type LookContext } from "../core/action.ts"
import type { Context } from "../core/operation.ts"
import type { RandomBytes } from "../lib/text.ts"
import { type ApprovalTerms, openApproval } from "./approvals.ts"
import { issueToken, seenOf } from "./tokens.ts"

interface PreviewAnswer {
  preview: Diff
  /** The price of the confirm, in credits. */
  credits: number
  confirmToken: string
  expiresAt: Date
  /** Null if no approval outside the assistant is required. */
  approval: ApprovalTerms | null
}

/**
 * Returns the preview of a write and the token that confirms it. Stores only the token and, if one is required, the
 * approval.
 */
export async function preview(
  action: Action,
  body: Record<string, unknown>,
  ctx: Context,
  randomBytes: RandomBytes = secureBytes,
): Promise<PreviewAnswer> {
  const { sql, caller, now, measure } = ctx
  const looking: LookContext = { sql, caller, lock: false, now: now() }
  const args = (await action.settle?.(body, looking, measure)) ?? body
  const state = await action.look(args, looking)
  const diff = action.diff(state, args, await readOutside(action, args, ctx))
  const storedArgs = action.secrets ? await action.secrets.toStored(args) : args
  const token = await issueToken(
    sql,
    caller,
    { action: action.name, args: storedArgs, seen: seenOf(diff) },
    randomBytes,
  )
  const credits = costOf(action, diff)
  const waiting = {
    action: action.name,
    scope: action.scope,
    token: token.confirmToken,
    publicUrl: ctx.publicUrl,
    shown: { ...diff, credits, destructive: action.destructive },
  }
  const approval = changes(diff) ? await openApproval(sql, caller, waiting, randomBytes) : null
  return { preview: diff, credits, ...token, approval }
}

/** Returns the price of a write. A write that changes nothing is free. */
export function costOf({ credits }: Action, diff: Diff): number {
  return changes(diff) ? credits : 0
}

const OUTSIDE_MS = 3_500

/** Reads an outside target. Undefined for a write to our own database. Must not be called within a transaction. */
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

/** Returns the workspace's app that a write concerns. Null if its arguments name none. */
export function appIdOf(args: Record<string, unknown>): string | null {
  return typeof args.appId === "string" ? args.appId : null
}
