import type { Fragment } from "postgres"
import type { Recording } from "../core/recording.ts"
import type { Sql, Tx } from "../database/types.ts"
import { firstOf, later } from "../jobs/timers.ts"
import { createWorker, type Run, type Worker, type WorkerOptions } from "../jobs/worker.ts"
import type { Assistant } from "../lib/upstreams.ts"
import { openLane, takeFreeTurn } from "../measuring/pace.ts"
import { putForwardTerms } from "../measuring/put-forward.ts"
import type { PostFailure } from "../outbound/providers/post.ts"
import { endChecksAfter, giveBackUnits } from "./ends.ts"
import { askEngine, type EngineAccess, type EngineReply } from "./engines/ask-engine.ts"
import type { AssistantAnswerObservation } from "./kinds/assistant-answer.ts"
import type { PlannedTurn } from "./plan.ts"
import { questionOf } from "./questions.ts"

interface AskingOptions extends Omit<WorkerOptions, "atOnce" | "random"> {
  recording: Pick<Recording, "record">
  engines: readonly EngineAccess[]
  /** Minimum gap between two questions to one assistant, across all processes. */
  gapMs: number
  fetch: (url: string, init: RequestInit) => Promise<Response>
  now: () => Date
  /** Timeout of one answer. */
  askMs?: number
  /** Delay before the second try; it doubles before the third. */
  retryMs?: number
}

interface ClaimedTurn extends PlannedTurn {
  id: number
  tries: number
  lease: string
}

const TRIES = 3
const AT_ONCE = 4
const LONGEST_WAIT_MS = 600_000
/** Age in hours after which a turn fails. */
const CHECK_HOURS = 6

/** Runs the due turns of checks. Any number of processes may run it; they share one pace. */
export function createAsking(options: AskingOptions): Worker {
  const { sql, log, engines, gapMs, pollMs = 2_000, leaseMs = 60_000, stopMs = 2_000 } = options
  const access = new Map(engines.map((engine) => [engine.assistant, engine]))
  return createWorker<Assistant, ClaimedTurn>(
    {
      lanes: [...access.keys()],
      atOnce: AT_ONCE,
      async claim(assistant) {
        const claims = await claimTurn(sql, assistant, leaseMs)
        return { claims, waitMs: claims.length > 0 ? gapMs : null }
      },
      perform: (run) => askTurn(run, access.get(run.claim.assistant)!, options),
      giveBack: ({ id, lease }) => sql`
        update assistant_turn
        set lease = null, lease_until = null, tries = tries - 1
        where id = ${id} and lease = ${lease}`,
      async extend(claims) {
        const rows = await sql<{ lease: string }[]>`
          update assistant_turn
          set lease_until = ${later(sql, leaseMs)}
          where lease = any(${claims.map(({ lease }) => lease)}::uuid[])
          returning lease`
        return new Set(rows.map(({ lease }) => lease))
      },
      async recover() {
        for (const assistant of access.keys()) await openLane(sql, laneOf(assistant), gapMs)
        await recoverTurns(sql)
      },
    },
    { leaseMs, pollMs, stopMs, ends: firstOf(log, "assistant_worker_failed") },
  )
}

function laneOf(upstream: Assistant) {
  return { upstream, egress: "" } as const
}

/** Claims the assistant's next due turn and the pace slot for it, in one statement. */
async function claimTurn(sql: Sql, assistant: Assistant, leaseMs: number): Promise<ClaimedTurn[]> {
  return await sql<ClaimedTurn[]>`
    with next as materialized (
      select t.id
      from assistant_turn t
      where t.assistant = ${assistant} and t.state = 'due' and t.next_at <= now() and t.tries < ${TRIES}
        and (t.lease_until is null or t.lease_until < now())
        and exists (
          select
          from ai_check_turn c
          join ai_check k on k.id = c.check_id
          where c.turn_id = t.id and k.ended_at is null
        )
      order by t.next_at, t.id
      limit 1
      for no key update of t skip locked
    ), paced as (
      ${takeFreeTurn(sql, laneOf(assistant), sql`exists (select from next)`)}
    )
    update assistant_turn t
    set lease = gen_random_uuid(), lease_until = ${later(sql, leaseMs)}, tries = t.tries + 1
    from next
    where t.id = next.id and exists (select from paced)
    returning t.id, t.storefront, t.term, t.language, t.assistant, t.model, t.phrasing, t.run, t.tries, t.lease`
}

async function askTurn(run: Run<ClaimedTurn>, access: EngineAccess, options: AskingOptions): Promise<void> {
  const { sql, log, fetch, now, askMs = 150_000 } = options
  const { claim, abort } = run
  const { storefront, term, model, run: nth } = claim
  const question = { question: questionOf(term, storefront, nth).text, country: storefront, model }
  const late = AbortSignal.timeout(askMs)
  const signal = AbortSignal.any([abort.signal, late])
  const reply: EngineReply = await askEngine(access, question, { fetch, now, signal }).catch((error) => {
    if (!late.aborted || abort.signal.aborted) throw error
    return { failed: "busy", code: "too_slow" }
  })
  run.isEnding = true
  if (!("failed" in reply)) return await storeAnswer(options, claim, { reply, seenAt: now() })
  log("warn", "assistant_failed", { operation: claim.assistant, ...failureText(reply) })
  await storeFailure(sql, claim, reply, options)
  await giveBackUnits(sql)
}

function failureText({ failed, status, code }: PostFailure) {
  return { reason: failed, ...(status !== undefined && { status }), ...(code !== undefined && { code }) }
}

type Heard = Exclude<EngineReply, PostFailure>

/** Stores the answer, ends its turn and ends the checks that waited for that turn, in one transaction. */
async function storeAnswer(
  { sql, recording }: AskingOptions,
  claim: ClaimedTurn,
  { reply, seenAt }: { reply: Heard; seenAt: Date },
): Promise<void> {
  const { assistant: source, storefront, term, language, model, phrasing, run } = claim
  const answer: AssistantAnswerObservation = {
    kind: "assistant_answer",
    source,
    storefront,
    term,
    language,
    model,
    phrasing,
    run,
    seenAt,
    origin: "own",
    ...reply,
  }
  const finish = async (tx: Tx) => {
    await endTurn(tx, claim, { state: "answered", answeredAt: seenAt, failure: null })
    const ended = await endChecksAfter(tx, [claim.id])
    if (ended.length > 0)
      await putForward(
        tx,
        ended.map(({ id }) => id),
      )
  }
  await recording.record(sql, [answer], () => seenAt, { all: true, finish })
}

/** Retries if the assistant is busy. Any other failure is final. A failed run never counts as an absence. */
async function storeFailure(
  sql: Sql,
  claim: ClaimedTurn,
  reply: PostFailure,
  { retryMs = 15_000 }: AskingOptions,
): Promise<void> {
  const failure = [reply.status, reply.code ?? reply.failed].filter((part) => part !== undefined).join(" ")
  if (reply.failed === "busy" && claim.tries < TRIES) {
    const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(reply.retryAfterMs ?? 0, retryMs * 2 ** (claim.tries - 1)))
    return await putOff(sql, claim, { failure, waitMs })
  }
  await sql.begin(async (tx) => {
    await endTurn(tx, claim, { state: "failed", answeredAt: null, failure })
    // a missing key, model or balance fails every other question too
    const failedTurns = reply.failed === "denied" ? await failTurns(tx, sameModel(tx, claim), failure) : []
    await endChecksAfter(tx, [claim.id, ...failedTurns])
  })
}

async function putOff(
  sql: Sql,
  { id, lease }: ClaimedTurn,
  { failure, waitMs }: { failure: string; waitMs: number },
): Promise<void> {
  await sql`
    update assistant_turn
    set lease = null, lease_until = null, failure = ${failure}, next_at = ${later(sql, waitMs)}
    where id = ${id} and lease = ${lease}`
}

async function endTurn(
  tx: Tx,
  { id, lease }: ClaimedTurn,
  { state, answeredAt, failure }: { state: "answered" | "failed"; answeredAt: Date | null; failure: string | null },
): Promise<void> {
  const rows = await tx`
    update assistant_turn
    set state = ${state}, answered_at = ${answeredAt}, failure = ${failure}, ended_at = clock_timestamp(), lease = null,
      lease_until = null
    where id = ${id} and lease = ${lease} and state = 'due'
    returning id`
  if (rows.length === 0) throw new Error("the lease expired before the answer was stored")
}

function sameModel(tx: Tx, { assistant, model }: ClaimedTurn): Fragment {
  return tx`assistant = ${assistant} and model = ${model}`
}

/**
 * Fails due turns that no worker has leased. If `failure` is null, each turn keeps the failure of its last try, or gets
 * "late".
 */
async function failTurns(tx: Tx, which: Fragment, failure: string | null): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    with failed as materialized (
      select id
      from assistant_turn
      where state = 'due' and (lease_until is null or lease_until < now()) and ${which}
      order by id
      for no key update skip locked
    )
    update assistant_turn t
    set state = 'failed', failure = coalesce(${failure}, t.failure, 'late'), ended_at = clock_timestamp(), lease = null,
      lease_until = null
    from failed
    where t.id = failed.id
    returning t.id`
  return rows.map(({ id }) => id)
}

/** Makes the findings due for all apps that track the keywords of these checks. */
async function putForward(tx: Tx, checks: readonly string[]): Promise<void> {
  const keywords = await tx<{ storefront: string; terms: string[] }[]>`
    select t.storefront, array_agg(distinct t.term order by t.term) as terms
    from ai_check_turn c
    join assistant_turn t on t.id = c.turn_id
    where c.check_id = any(${checks as string[]}::text[])
    group by t.storefront
    order by t.storefront
    limit 1000`
  for (const { storefront, terms } of keywords) {
    for (const platform of ["android", "ios"] as const) {
      const subjects = terms.map((subject) => ({ kind: "search" as const, platform, storefront, subject }))
      await putForwardTerms(tx, subjects, FINDINGS_AFTER_MS)
    }
  }
}

const FINDINGS_AFTER_MS = 5_000

/**
 * Fails turns that a crashed process left or whose time is over, ends the checks that waited for these turns and gives
 * back the units of failed checks.
 */
async function recoverTurns(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    const isLeft = tx`
      (tries >= ${TRIES} and lease is not null or created_at < now() - ${CHECK_HOURS}::int * interval '1 hour')`
    await endChecksAfter(tx, await failTurns(tx, isLeft, null))
  })
  await giveBackUnits(sql)
}
