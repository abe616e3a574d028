import * as v from "valibot"
import type { Caller } from "../access/caller.ts"
import { type Action, action, type LookContext, type MadeWrite } from "../core/action.ts"
import type { Db } from "../database/types.ts"
import { Fault } from "../lib/faults.ts"
import { described } from "../lib/schema.ts"

/** A change of the last minutes, for the notice that offers to undo it. */
interface MadeChange {
  id: number
  action: string
  args: Record<string, unknown>
  result: Record<string, unknown> | null
  appId: string | null
  summary: string
}

/** Returns the changes of one request by the same key, in the order of writing. */
export async function readMadeChanges(
  sql: Db,
  { workspaceId, keyId }: Caller,
  requestId: string,
): Promise<MadeChange[]> {
  return await sql<MadeChange[]>`
    select id, action, args, result, app_id as "appId", preview ->> 'summary' as summary
    from audit
    where workspace_id = ${workspaceId} and key_id = ${keyId} and request_id = ${requestId}
      and at > now() - interval '15 minutes'
    order by id
    limit 1000`
}

interface AuditedWrite extends MadeWrite {
  action: string
  target: { kind: "app" | "alerts"; id: string; name: string }
  summary: string
}

/** Returns a write that undoes one of these writes, if the same key made it within the last hour. */
export function undoAction(actions: readonly Action[]): Action {
  const byName = new Map(actions.map((item) => [item.name, item]))
  const undoOf = (name: string) => byName.get(name)?.undo
  return action({
    name: "undo_change",
    summary: "Undoes a change of the last hour.",
    scope: "track:write",
    plan: "free",
    credits: 0,
    destructive: false,
    args: v.strictObject({ change: described(v.pipe(v.number(), v.integer(), v.minValue(1)), "Id of the change.") }),
    example: { change: 1 },
    state: v.record(v.string(), v.unknown()),
    result: v.strictObject({ undone: v.string() }),
    target: ({ change }) => `undo ${change}`,
    async look({ change }, looking) {
      const made = await readWrite(looking, change)
      const undo = made && undoOf(made.action)
      if (!made || !undo) throw new Fault("not_found", { detail: TOO_OLD })
      if (undo.needsSameState) {
        const present = await presentState(byName.get(made.action) as Action, made.args, looking)
        if (JSON.stringify(sorted(present)) !== JSON.stringify(sorted(made.after)))
          throw new Fault("write_limit_reached", { reason: CHANGED_SINCE })
      }
      return made
    },
    diff: (made) => ({
      summary: `Undo: ${made.summary}`,
      target: made.target,
      before: made.after,
      after: made.before,
      notes: [],
    }),
    async write(_, made, writing) {
      await undoOf(made.action)?.restore(made, writing)
      return { undone: made.action }
    },
  })
}

const TOO_OLD = "Only your own changes of the last hour can be undone."
const CHANGED_SINCE = "This was changed again since, so it cannot be undone. Nothing was changed."

async function readWrite({ sql, caller }: LookContext, change: number): Promise<AuditedWrite | undefined> {
  const [made] = await sql<AuditedWrite[]>`
    select action, args, preview -> 'before' as before, preview -> 'after' as after, preview -> 'target' as target,
      preview ->> 'summary' as summary, at::text as at
    from audit
    where id = ${change} and workspace_id = ${caller.workspaceId} and key_id = ${caller.keyId}
      and at > now() - interval '1 hour'`
  return made
}

/** Returns the current state of what the write changed. */
async function presentState(original: Action, args: Record<string, unknown>, looking: LookContext) {
  const state = await original.look(args, looking)
  return original.diff(state, args).before
}

/** Returns the value with its fields in alphabetical order, as jsonb does not keep their order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]))
}
