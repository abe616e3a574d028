import { json } from "../database/json.ts"
import type { Sql } from "../database/types.ts"
import type { Platforms } from "../lib/accounts/platform.ts"
import { Fault } from "../lib/faults.ts"
import type { Log } from "../lib/log.ts"
import { storable } from "../lib/storable.ts"
import type { JobTask } from "./outbox-jobs.ts"
import { type OutsideWrite, type OutsideWrites, PROOF_MINUTES, type ProofFinding } from "./outside.ts"
import { limited } from "./timers.ts"

/**
 * A claimed check of an unknown outcome. The claim moves `proof_at`; a worker whose `claimedUntil` no longer matches
 * changes nothing.
 */
interface ProofTurn extends JobTask {
  id: string
  sentAt: Date
  /** Findings of the earlier checks. */
  findings: StoredFinding[]
  claimedUntil: string
}

/** A finding as get_job returns it. */
export interface StoredFinding {
  at: string
  verdict: ProofFinding["verdict"]
  text: string
}

interface ProofParts {
  sql: Sql
  log: Log
  kinds: OutsideWrites
  platforms: Platforms
  readMs: number
}

/** Checks every unknown outcome that is due, using reads only. Returns the number of checks. */
export async function settleUnknown(parts: ProofParts): Promise<number> {
  const actions = [...parts.kinds].flatMap(([name, { proof }]) => (proof ? [name] : []))
  if (actions.length === 0) return 0
  const turns = await claimTurns(parts.sql, actions)
  await Promise.all(turns.map((turn) => look(parts, turn, parts.kinds.get(turn.action)!.proof!)))
  return turns.length
}

const MAX_BATCH = 10

/**
 * Claims due checks. If a later write to the same target was sent, the target no longer shows whether this job was
 * applied: its checks end.
 */
async function claimTurns(sql: Sql, actions: readonly string[]): Promise<ProofTurn[]> {
  return await sql<ProofTurn[]>`
    with due as materialized (
      select id
      from job
      where proof_at <= now() and action = any(${actions as string[]}::text[])
      order by proof_at, id
      limit ${MAX_BATCH}
      for update skip locked
    )
    update job j
    set proof_at = case when overtaken.id is null then now() + interval '5 minutes' end
    from due
    left join lateral (
      select later.id
      from job this
      join job later on later.workspace_id = this.workspace_id and later.target = this.target
      where this.id = due.id and later.created_at > this.created_at and later.sent_at is not null
      limit 1
    ) overtaken on true
    where j.id = due.id
    returning j.id, j.workspace_id as "workspaceId", j.request_id as "requestId", j.action, j.app_id as "appId", j.args,
      j.before, j.sent_at as "sentAt", j.proofs as findings, j.proof_at::text as "claimedUntil"`.then((turns) =>
    turns.filter(({ claimedUntil }) => claimedUntil !== null),
  )
}

async function look(parts: ProofParts, turn: ProofTurn, proof: NonNullable<OutsideWrite["proof"]>): Promise<void> {
  const { sql, log, platforms, readMs } = parts
  const { id: idempotencyKey, workspaceId, appId, sentAt, before } = turn
  let found: ProofFinding
  try {
    found = await limited(readMs, new AbortController(), (signal) => {
      const port = { signal, idempotencyKey, workspaceId, appId, sql, platforms }
      return proof.look(turn.args, port, { before, sentAt })
    })
  } catch (error) {
    // the claim has already moved the next check by 5 minutes; endLate stops checks of a platform that cannot be read
    // for days
    await endLate(sql, turn)
    const reason = error instanceof Fault ? error.code : String((error as Error).message)
    return log("info", "job_check_failed", {
      requestId: turn.requestId,
      workspace: workspaceId,
      operation: turn.action,
      reason,
    })
  }
  const stored: StoredFinding = { at: new Date().toISOString(), verdict: found.verdict, text: found.text }
  const findings = [...turn.findings, stored]
  const code = await storeFinding(sql, turn, findings, { found, proof })
  log("info", "job_checked", { requestId: turn.requestId, workspace: workspaceId, operation: turn.action, code })
}

type SettledStatus = "done" | "failed" | "unknown"

async function storeFinding(
  sql: Sql,
  turn: ProofTurn,
  findings: StoredFinding[],
  { found, proof }: { found: ProofFinding; proof: NonNullable<OutsideWrite["proof"]> },
): Promise<SettledStatus> {
  const status = settledBy(findings, proof.absentAt)
  const next = status === "unknown" ? PROOF_MINUTES[findings.length] : undefined
  const { code, extra } = proof.absence(turn.before)
  const error = status === "failed" ? json(sql, { error: code, ...extra }) : null
  const result = status === "done" ? json(sql, storable(found.result ?? {})) : null
  await sql`
    update job
    set status = ${status}, proofs = ${json(sql, findings)}, result = ${result}, error = ${error},
      proof_at = sent_at + ${next ?? null}::int * interval '1 minute',
      finished_at = case when ${status} = 'unknown' then finished_at else now() end
    where id = ${turn.id} and proof_at::text = ${turn.claimedUntil} and status = 'unknown'`
  return status
}

/**
 * Returns done if the latest finding is "applied", failed if the findings of all minutes in `absentAt` are "absent",
 * else unknown.
 */
function settledBy(findings: readonly StoredFinding[], absentAt: readonly number[]): SettledStatus {
  if (findings.at(-1)?.verdict === "applied") return "done"
  const absent = absentAt.every((minute) => findings[PROOF_MINUTES.indexOf(minute as 1)]?.verdict === "absent")
  return absent ? "failed" : "unknown"
}

async function endLate(sql: Sql, { id, claimedUntil }: ProofTurn): Promise<void> {
  await sql`
    update job
    set proof_at = null
    where id = ${id} and proof_at::text = ${claimedUntil} and sent_at < now() - interval '3 days'`
}
