import type { Db, Sql } from "../database/types.ts"
import type { ConsoleProblem } from "./console.ts"
import type { Look } from "./look.ts"

const ACCOUNT_STATES = [
  "connecting",
  "ok",
  "limited",
  "agreement_required",
  "revoked",
  "paused",
  "removed",
  "demo",
] as const
export type AccountState = (typeof ACCOUNT_STATES)[number]

/**
 * States as shown in answers. `unavailable`: the account is in order but its last request failed; the request is
 * retried automatically.
 */
export const ANSWERED_STATES = [...ACCOUNT_STATES, "unavailable"] as const
export type AnsweredState = (typeof ANSWERED_STATES)[number]

/** SQL: the state of an account `c` as shown in answers, and the action that a person must take, or the failure. */
export function answeredState(sql: Db) {
  return sql`
    case when c.state in ('ok', 'connecting') and c.failures > 0 then 'unavailable' else c.state end as state,
    case when c.state in ('ok', 'connecting') and c.failures > 0 then c.failure else c.why end as why`
}

interface StateChange {
  state: AccountState
  /** The action that a person must take. Null if there is none. */
  why: string | null
}

/** Returns the state that follows from the rights: `limited` if a right that reading needs is denied. */
export function stateAfter({ rights }: Pick<Look, "rights">, needs: readonly string[]): StateChange {
  const missing = rights.filter(({ name, state }) => needs.includes(name) && state === "denied")
  if (missing.length === 0) return { state: "ok", why: null }
  return { state: "limited", why: missing.map(({ name, why }) => `${name}: ${why}`).join("; ") }
}

/**
 * The rights of the key do not change these states: a paused account stays paused, and removed and demo accounts have
 * no key.
 */
const STAYS: readonly AccountState[] = ["paused", "removed", "demo"]

/** States that need an alert because a person must act at the console. */
const TROUBLES: readonly AccountState[] = ["limited", "agreement_required", "revoked"]

/**
 * Sets the state, and begins or ends an alert in the same transaction, so that only one of several processes raises it.
 * Returns whether the state changed.
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

/** Ends the alerts of these accounts, except the alert that belongs to `state`. */
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

/**
 * How long freshly signed tokens must be rejected before the key counts as revoked. It is not immediate, because clocks
 * differ and consoles have short failures.
 */
const REFUSED_MS = 10 * 60_000

/**
 * Records what a failed request means for the whole account. A missing right makes the worker check the rights again; a
 * used-up hourly limit changes nothing. The failure is ignored if the key has been replaced since.
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
