import { type Action, changes } from "../core/action.ts"
import type { Context } from "../core/operation.ts"
import { Fault } from "../lib/faults.ts"
import { changedLines } from "../tracking/actions/changed-lines.ts"
import { assertMayAsk } from "./approvals.ts"
import { costOf, readOutside } from "./preview.ts"
import { lookUpToken, seenOf, UNKNOWN_ACTION } from "./tokens.ts"

/**
 * Returns the question to a person before a token is confirmed: the summary, the changes, the notes and the price, from
 * the current state. Throws the same faults as the confirm: confirm_token_invalid, confirm_token_expired,
 * confirm_token_mismatch with the new preview, and the faults of the action.
 */
export async function questionOf(
  find: (name: string) => Action | undefined,
  token: string,
  ctx: Context,
): Promise<string> {
  const { sql, caller, now } = ctx
  const { action: name, args, seen } = await lookUpToken(sql, caller, token)
  const action = find(name)
  if (!action) throw new Fault("confirm_token_invalid", { detail: UNKNOWN_ACTION })
  const state = await action.look(args, { sql, caller, lock: false, now: now() })
  const diff = action.diff(state, args, await readOutside(action, args, ctx))
  if (seenOf(diff) !== seen) throw new Fault("confirm_token_mismatch", { preview: { ...diff } })
  if (changes(diff)) await assertMayAsk(sql, caller, { action: name, token, publicUrl: ctx.publicUrl })
  const cost = costOf(action, diff)
  const warning = action.destructive && changes(diff) ? ["It removes something or makes it public."] : []
  return [
    diff.summary,
    ...changedLines(diff),
    ...diff.notes,
    ...warning,
    `It costs ${cost} ${cost === 1 ? "credit" : "credits"}.`,
  ].join("\n")
}
