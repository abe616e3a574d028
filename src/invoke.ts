import { openTakings, type Takings } from "./access/allowances.ts"
import type { Caller, Credits } from "./access/caller.ts"
import { type Charged, cannotPay, charge, type Due, refund, refusal } from "./access/credits.ts"
import { AllowanceUnavailable } from "./access/hive-allowance.ts"
import type { Credentials, Identify } from "./access/identify.ts"
import { creditsKnownAt } from "./access/identify.ts"
import type { Limits } from "./access/limits/open.ts"
import { hivePerDay } from "./access/plans.ts"
import { checkRights } from "./access/rights.ts"
import { findApp, visibleApps } from "./access/visible-apps.ts"
import { type DiskWatch, isDiskFull } from "./database/disk.ts"
import { DatabaseUnavailable, type Gate, isConnectionProblem, wroteNothing } from "./database/gate.ts"
import type { Place, Sql } from "./database/types.ts"
import type { TooLong } from "./database/unavailable.ts"
import { Fault } from "./faults.ts"
import { nextMidnight } from "./formulas/days.ts"
import { checkInput } from "./input.ts"
import type { Log } from "./log.ts"
import type { Measure } from "./measure.ts"
import { type Context, Nothing, type Operation, Pending, priceRange, Settled } from "./operation.ts"
import type { PreparedAnswer } from "./prepared.ts"
import { CallerGone } from "./request-body.ts"
import { within } from "./running.ts"

/** One call, from whichever surface. */
export interface Call {
  surface: "rest" | "tools"
  requestId: string
  credentials: Credentials
  /** A key stands in the URL. */
  keyInUrl: boolean
  address: string | null
  /**
   * Which operation with what input; asked only once the caller is known and within its rate. Null when the surface needed
   * to know no more than that. Throws Faults, and CallerGone.
   */
  target(): Promise<Target | null>
}

export interface Target {
  operation: Operation
  input: Record<string, unknown>
}

/** What a surface sends: the answer, or the fault in its place. */
export interface Reply {
  status: number
  answer: unknown
  /** Set instead of `answer` when a test key gets the sandbox's bytes. */
  prepared?: PreparedAnswer
  fault?: Fault
  /** The month's credits after the call; null while nobody is known. */
  credits: Credits | null
  /** Credits this call cost. */
  cost: number
  operation?: Operation
  caller?: Caller
}

export interface Parts {
  sql: Sql
  identify: Identify
  limits: Limits
  gate: Gate
  /** Milliseconds a call may take unless its operation says otherwise. */
  deadlineMs: number
  sandboxAnswer: (operation: Operation, input: Record<string, unknown>) => PreparedAnswer
  now: () => Date
  log: Log
  publicUrl: string
  measure: Measure
  disk?: DiskWatch | undefined
}

/** Throws CallerGone, and nothing else. */
export type Invoke = (call: Call) => Promise<Reply>

/** The one path every call takes: who, how fast, what, may they, run, price, charge once, answer. */
export function createInvoke(parts: Parts): Invoke {
  return async (call) => {
    const reply: Reply = { status: 200, answer: undefined, credits: null, cost: 0 }
    const { sql, log } = parts
    const takings = openTakings({ sql, log, requestId: call.requestId }, () => reply.caller as Caller)
    try {
      await answer(parts, call, reply, takings)
    } catch (error) {
      if (error instanceof CallerGone) throw error
      const fault = faultOf(parts, call, reply, error)
      reply.fault = fault
      reply.status = fault.status
      reply.answer = fault.body(parts.publicUrl)
      reply.credits ??= creditsKnownAt(fault) ?? reply.caller?.credits ?? null
      await within(GIVE_BACK_MS, takings.giveBack())
    }
    return reply
  }
}

/** How long a failed call waits for what it took to be given back, which goes on all the same. */
const GIVE_BACK_MS = 500

async function answer(parts: Parts, call: Call, reply: Reply, takings: Takings): Promise<void> {
  let until = performance.now() + parts.deadlineMs
  if (call.keyInUrl) throw new Fault("key_in_url")
  const caller = await parts.gate.run(() => parts.identify.identify(call.credentials, call.address), parts.deadlineMs)
  reply.caller = caller
  reply.credits = caller.credits
  await takeRate(parts, caller)
  const askedAt = performance.now()
  const target = await call.target()
  if (!target) return
  // the caller's own time, while it sends its body, is not the call's
  until += performance.now() - askedAt
  const { operation } = target
  reply.operation = operation
  const input = checkInput(operation, target.input)
  if (caller.kind === "test") return sandboxReply(parts, operation, input, reply)
  until += (operation.deadlineMs ?? parts.deadlineMs) - parts.deadlineMs
  const left = () => Math.max(1, until - performance.now())
  // both: the deadline's timer may fire almost a millisecond early, and the answer stands from then on
  const givenUp = () => reply.fault !== undefined || performance.now() > until
  const ofCall = { givenUp, take: takings.take }
  const begin = (place: Place) =>
    run(parts, call, operation, input, contextOf(parts, call, reply, ofCall, place), reply)
  const errand = { workspaceId: caller.workspaceId, kind: operation.id }
  const outcome = await parts.gate.runInTurn(errand, begin, left())
  await settle(parts, call, { operation, input, outcome, leftMs: left() }, reply)
}

async function takeRate({ limits }: Parts, caller: Caller): Promise<void> {
  const rate = await limits.rate.take(`key:${caller.keyId}`, caller.entitlements.ratePerSecond)
  if (!rate.allowed) throw new Fault("rate_limited", { limit: rate.limit }, { retryAfter: rate.retryAfterSeconds })
}

/** Test keys never write; everything else answers what the sandbox does. */
function sandboxReply(parts: Parts, operation: Operation, input: Record<string, unknown>, reply: Reply): void {
  if (operation.effect === "writes" || operation.effect === "previews") throw new Fault("test_key_read_only")
  reply.prepared = parts.sandboxAnswer(operation, input)
}

/** The caller in it is the latest known: a refusal that is looked into again may have renewed it. */
function contextOf(
  { sql, now, publicUrl, limits, measure }: Parts,
  call: Call,
  reply: Reply,
  ofCall: Pick<Context, "givenUp" | "take">,
  { aside, pause }: Place,
): Context {
  const latest = () => reply.caller as Caller
  return {
    sql,
    now,
    requestId: call.requestId,
    ...ofCall,
    get caller() {
      return latest()
    },
    publicUrl,
    aside,
    pause,
    measure: (wanted, patience) => aside(() => measure(wanted, patience, latest())),
    visibleApps: () => visibleApps(sql, latest()),
    hiveUsedToday: () => limits.hive.used(latest().workspaceId).catch(unlessAway),
  }
}

function unlessAway(error: unknown): null {
  if (error instanceof AllowanceUnavailable) return null
  throw error
}

async function run(
  parts: Parts,
  call: Call,
  operation: Operation,
  input: Record<string, unknown>,
  ctx: Context,
  reply: Reply,
) {
  const { hive, price, terms } = operation
  const { scope, plan = "free" } = terms ? await terms(input, ctx) : operation
  await checkLatest(parts, reply, (caller) => checkRights(caller, call.surface, { scope, plan, hive }))
  const subject = operation.subject ? await subjectOf(operation.subject, input, ctx) : {}
  const least = priceRange(price).min
  if (hive && cannotPay(ctx.caller, least)) await refuseSpentDay(parts, ctx.caller)
  await checkLatest(parts, reply, (caller) => {
    const short = cannotPay(caller, least)
    if (short) throw short
  })
  if (hive) await takeHive(parts, ctx.caller)
  return await operation.run({ ...input, ...subject }, ctx)
}

/** What a purchase or a new month can lift. */
const LIFTED = new Set<string>(["plan_required", "explorer_required", "credits_exhausted", "key_budget_reached"])

/** Refusals about money rest on figures up to 750 ms old: before one is given, the caller is looked up again. */
async function checkLatest(parts: Parts, reply: Reply, check: (caller: Caller) => void): Promise<void> {
  try {
    check(reply.caller as Caller)
  } catch (error) {
    if (!(error instanceof Fault && LIFTED.has(error.code))) throw error
    reply.caller = await parts.identify.renewed(reply.caller as Caller)
    reply.credits = reply.caller.credits
    check(reply.caller)
  }
}

/** The app a call is about and the storefront it asks for, or else the app's first. */
async function subjectOf(name: string, input: Record<string, unknown>, { sql, caller }: Context) {
  const country = input.country as string | undefined
  const app = await findApp(sql, caller, input[name] as string, country)
  return { app, storefront: country ?? app.countries[0] }
}

/** A day that is used up is said before empty credits are, and a call that credits refuse takes no unit of the day. */
async function refuseSpentDay({ limits, now }: Parts, caller: Caller): Promise<void> {
  const perDay = hivePerDay(caller.explorer, caller.hasPack)
  const used = await limits.hive.used(caller.workspaceId)
  if (used >= perDay) throw spentDay(now(), perDay, used, nextMidnight(now()))
}

async function takeHive({ limits, now }: Parts, caller: Caller): Promise<void> {
  const perDay = hivePerDay(caller.explorer, caller.hasPack)
  const { allowed, used, resetsAt } = await limits.hive.take(caller.workspaceId, perDay)
  if (!allowed) throw spentDay(now(), perDay, used, resetsAt)
}

function spentDay(now: Date, limit: number, used: number, resetsAt: string): Fault {
  const retryAfter = Math.max(1, Math.ceil((Date.parse(resetsAt) - now.getTime()) / 1_000))
  return new Fault("daily_hive_limit", { limit, used, resetsAt }, { retryAfter })
}

interface Settling {
  operation: Operation
  input: Record<string, unknown>
  outcome: unknown
  leftMs: number
}

/** Turns an outcome into status, price and the one charge. A refused charge drops the answer. */
async function settle(parts: Parts, call: Call, settling: Settling, reply: Reply): Promise<void> {
  const { outcome, operation } = settling
  const caller = reply.caller as Caller
  const cost = outcome instanceof Settled ? outcome.cost : priceOf(operation, settling.input, outcome)
  try {
    if (outcome instanceof Settled) takeOver(parts, caller, outcome)
    else if (cost > 0) await pay(parts, call, settling, cost, caller)
  } finally {
    // also when refused: the charge has brought newer figures
    reply.credits = caller.credits
  }
  reply.cost = cost
  if (outcome instanceof Nothing && outcome.answer instanceof Fault) throw outcome.answer
  reply.status = outcome instanceof Pending ? 202 : 200
  reply.answer = hasAnswer(outcome) ? outcome.answer : outcome
}

function hasAnswer(outcome: unknown): outcome is { answer: unknown } {
  return outcome instanceof Nothing || outcome instanceof Pending || outcome instanceof Settled
}

function takeOver({ identify }: Parts, caller: Caller, { paid }: Settled): void {
  if (!paid) return
  identify.charged(caller, paid)
  if (paid.refused) throw refusal(paid)
}

/** A Hive answer with nothing measured yet costs 1; a plain fault costs nothing; anything else its price. */
function priceOf({ id, price, hive }: Operation, input: Record<string, unknown>, outcome: unknown): number {
  const empty = outcome instanceof Nothing || outcome instanceof Pending
  if (empty && hive) return 1
  if (outcome instanceof Nothing && outcome.answer instanceof Fault) return 0
  if (typeof price === "number") return price
  if (!price.of) throw new Error(`${id} has not charged its call`)
  return price.of(input, empty ? outcome.answer : outcome)
}

async function pay(
  parts: Parts,
  call: Call,
  { operation, leftMs }: Settling,
  cost: number,
  caller: Caller,
): Promise<void> {
  const { workspaceId, keyId } = caller
  const due = { workspaceId, keyId, cost, operation: operation.id, requestId: call.requestId }
  let charging: Promise<Charged> | undefined
  const begin = () => {
    charging = charge(parts.sql, due)
    return charging
  }
  try {
    const paid = await parts.gate.run(begin, leftMs)
    parts.identify.charged(caller, paid)
    if (paid.refused) throw refusal(paid)
  } catch (error) {
    if (charging && !(error instanceof Fault)) void takeBack(parts, due, charging)
    throw error
  }
}

const TAKE_BACK_TRIES = 5
const NOT_DONE = Symbol("the charge was rolled back")

/**
 * The caller is told that nothing was charged, but a charge whose answer was late or lost may stand all the same, or land
 * a moment later: what the request paid is given back. Refunds go by request, so none is made twice.
 */
async function takeBack({ sql, log }: Parts, due: Due, charging: Promise<Charged>): Promise<void> {
  const paid = await charging.catch((error: unknown) => (wroteNothing(error) ? NOT_DONE : null))
  if (paid === NOT_DONE || paid?.refused) return
  for (let attempt = 1; attempt <= TAKE_BACK_TRIES; attempt++) {
    try {
      if (await refund(sql, due)) return
    } catch (error) {
      log("warn", "refund_failed", { requestId: due.requestId, count: attempt, reason: (error as Error).message })
    }
    await new Promise((resolve) => setTimeout(resolve, attempt * 1_000))
  }
}

function faultOf({ log, disk }: Parts, { requestId }: Call, { operation }: Reply, error: unknown): Fault {
  if (error instanceof Fault) return error
  if (error instanceof DatabaseUnavailable || error instanceof AllowanceUnavailable || isConnectionProblem(error)) {
    if (isDiskFull(error)) disk?.noteFull()
    // a full disk is said once, with its cure, not with each call
    if (!disk?.isFull()) log("warn", "unavailable", { requestId, reason: String((error as Error).message) })
    return unavailable(error, operation)
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  log("error", "internal_error", { requestId, reason: message, stack })
  return new Fault("internal_error")
}

function unavailable(error: unknown, operation: Operation | undefined): Fault {
  const { why, tooLong } = error instanceof DatabaseUnavailable ? error : {}
  if (tooLong) return new Fault("unavailable", { detail: narrower(tooLong, operation) }, retryOf(tooLong))
  const mayBeWritten = operation?.effect === "writes" && why !== "crowded"
  return new Fault("unavailable", { detail: mayBeWritten ? MAYBE_WRITTEN : NOT_CHARGED }, { retryAfter: 1 })
}

const NOT_CHARGED = "Nothing was charged."
const MAYBE_WRITTEN = "The write may have been applied; confirm again with the same token: once used, it says so."

/** Inputs that make an answer smaller where an operation has them. */
const NARROWING = ["terms", "fields", "limit", "days", "from", "to", "cursor", "country"]

/** What would help where the workspace's own reads are too long. */
function narrower({ expectedMs, aheadMs }: TooLong, operation: Operation | undefined): string {
  const names = NARROWING.filter((name) => operation?.input.entries[name] !== undefined)
  const ask = names.length > 0 ? `ask for less (${names.join(", ")}), or ` : ""
  const behind = aheadMs >= 100 ? `, and ${seconds(aheadMs)} of this workspace's own calls are before it` : ""
  return `This call takes about ${seconds(expectedMs)}${behind}: ${ask}send such calls one after the other. ${NOT_CHARGED}`
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

/** A call that alone is too long is tried again no sooner than anything new is learnt of it. */
function retryOf({ aheadMs }: TooLong): { retryAfter: number } {
  return { retryAfter: aheadMs > 0 ? Math.ceil(aheadMs / 1_000) : 10 }
}
