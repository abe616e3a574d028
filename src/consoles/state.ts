import type { Db, Sql } from "../database/types.ts"
import type { ConsoleProblem } from "./console.ts"
import type { Look } from "./look.ts"

const ACCOUNT_STATES = [
  "connecting", "ok", "limited", "agreement_required", "revoked", "paused", "removed", "demo",
] as const // biome-ignore format: a list to scan
export type AccountState = (typeof ACCOUNT_STATES)[number]

/** As answers say it: `unavailable` of one that is in order, where the last question to it failed. It is asked again by itself. */
export const ANSWERED_STATES = [...ACCOUNT_STATES, "unavailable"] as const
export type AnsweredState = (typeof ANSWERED_STATES)[number]

/** For a statement: the state that answers say of an account `c`, and who must do what, or what failed. */
export function answeredState(sql: Db) {
  return sql`
    case when c.state in ('ok', 'connecting') and c.failures > 0 then 'unavailable' else c.state end as state,
    case when c.state in ('ok', 'connecting') and c.failures > 0 then c.failure else c.why end as why`
}

interface StateChange {
  state: AccountState
  /** Who must do what; null = nothing. */
  why: string | null
}

/** `limited`: one of the rights that reading needs is denied. */
export function stateAfter({ rights }: Pick<Look, "rights">, needs: readonly string[]): StateChange {
  const missing = rights.filter(({ name, state }) => needs.includes(name) && state === "denied")
  if (missing.length === 0) return { state: "ok", why: null }
  return { state: "limited", why: missing.map(({ name, why }) => `${name}: ${why}`).join("; ") }
}

/** A paused account stays paused, whatever a look shows; a removed one is none, and the demo's has nothing to look at. */
const STAYS: readonly AccountState[] = ["paused", "removed", "demo"]

/** What must be told of an account: someone has to do something at the console. */
const TROUBLES: readonly AccountState[] = ["limited", "agreement_required", "revoked"]

/**
 * Sets the state; where it is another than before, that begins one alert or ends one, in the same transaction: of any number
 * of processes that see the change, one tells it. Returns whether it changed.
 */
export async function noteState(tx: Db, id: string, { state, why }: StateChange): Promise<boolean> {
  const keeps = state === "paused" || state === "connecting" ? ["removed", "demo"] : (STAYS as string[])
  const [changed] = await tx<{ id: string }[]>`
    update connected_account
    set state = ${state}, why = ${why}, state_since = case when state = ${state} then state_since else now() end
    where id = ${id} and not state = any(${keeps}::text[]) and (state, why) is distinct from (${state}, ${why}::text)
    returning id`
  if (!changed) return false
  await endAlerts(tx, [id], state)
  if (TROUBLES.includes(state))
    await tx`
      insert into instance_alert (kind, subject, detail)
      values (${alertOf(state)}, ${id}, ${why ?? state})
      on conflict (kind, subject) where ended_at is null do nothing`
  return true
}

/** Of accounts that are in no trouble any more, or in another. */
export async function endAlerts(tx: Db, ids: readonly string[], state: AccountState): Promise<void> {
  await tx`
    update instance_alert
    set ended_at = now()
    where subject = any(${ids as string[]}::text[]) and ended_at is null and kind <> ${alertOf(state)}
      and kind = any(${TROUBLES.map(alertOf)}::text[])`
}

function alertOf(state: AccountState): string {
  return `account_${state}`
}

/** How long freshly signed tokens must be refused until the key counts as revoked: clocks differ, and consoles stumble. */
const REFUSED_MS = 10 * 60_000

/**
 * What a failed question says of the whole account. A right that is missing has it looked at anew; a used up hour says nothing. Nor does
 * what was asked with a key in whose place another stands by now.
 */
export async function noteTrouble(
  sql: Sql,
  { id, sealed }: { id: string; sealed: string },
  { trouble, message }: ConsoleProblem,
): Promise<void> {
  await sql.begin(async (tx) => {
    const [row] = await tx<{ refusedMs: number }[]>`
      update connected_account
      set last_failure = now(), failure = ${message}, failures = failures + 1,
        refused_since = case when ${trouble === "unauthorized"} then coalesce(refused_since, now()) end,
        checked_at = case when ${trouble !== "forbidden"} then checked_at end
      where id = ${id} and sealed = ${sealed}
      returning extract(epoch from now() - coalesce(refused_since, now()))::float8 * 1000 as "refusedMs"`
    if (!row) return
    if (trouble === "agreement") await noteState(tx, id, { state: "agreement_required", why: message })
    if (trouble === "unauthorized" && row.refusedMs >= REFUSED_MS)
      await noteState(tx, id, { state: "revoked", why: message })
  })
}
