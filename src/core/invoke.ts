import { openTakings } from "../access/allowances.ts"
import type { Caller, Credits } from "../access/caller.ts"
import { cannotPay, checkPayable } from "../access/credits.ts"
import { AllowanceUnavailable } from "../access/hive-allowance.ts"
import type { Credentials, Surface } from "../access/identify.ts"
import { checkLatest, creditsKnownAt } from "../access/identify.ts"
import { keyInUrlFault } from "../access/key-in-url.ts"
import type { RateAnswer } from "../access/limits/limiter.ts"
import type { Limits } from "../access/limits/open.ts"
import { hivePerDay } from "../access/plans.ts"
import { checkRights } from "../access/rights.ts"
import type { DiskWatch } from "../database/disk.ts"
import type { Sql } from "../database/types.ts"
import { within } from "../jobs/timers.ts"
import type { Platforms } from "../lib/accounts/platform.ts"
import { nextMidnight } from "../lib/days.ts"
import { Fault } from "../lib/faults.ts"
import type { Measure } from "../lib/live-read.ts"
import type { PreparedAnswer } from "../lib/prepared.ts"
import { CallerGone } from "../lib/request-body.ts"
import type { AssistantChecks } from "../lib/writing/assistant-checks.ts"
import type { ReadPictures } from "../lib/writing/picture-text.ts"
import type { Write } from "../lib/writing/written-text.ts"
import type { ChargeParts } from "./charging.ts"
import { payFor } from "./charging.ts"
import { checkInput, checkStorefronts } from "./check-input.ts"
import { faultOf } from "./failures.ts"
import {
  type AllowanceAccess,
  type Context,
  EmptyAnswer,
  isConditional,
  narrowed,
  type Operation,
  PaidAnswer,
  PendingAnswer,
  priceRange,
} from "./operation.ts"
import type { AppPort, TrackedApp } from "./tracked-app.ts"

/** A call from any surface. */
export interface Call {
  surface: Surface
  requestId: string
  credentials: Credentials
  /** True if the request's URL contains a key. */
  keyInUrl: boolean
  address: string | null
  /**
   * Returns the operation and its input. Called only after the caller is identified and within its rate limit. Null if
   * the surface has already done what the request needs. Throws Faults and CallerGone.
   */
  target(): Promise<Target | null>
  /**
   * True for a page that only shows market data, which is free. The page waits for no reading. If the plan limits
   * credits, the page does not start a reading either, because it has a button that starts one for its price.
   */
  isLooking?: boolean
  /** Returns true if the caller already has exactly this answer. Left out if the request names no version. */
  holds?: ((operation: Operation, answer: unknown) => Promise<boolean>) | undefined
}

export interface Target {
  operation: Operation
  input: Record<string, unknown>
  agreed?: boolean
}

/** The reply to a surface: an answer, or a fault. */
export interface Reply {
  status: number
  /** The answer. With 304 it is not sent, because the caller has it. */
  answer: unknown
  /** Set instead of `answer` for a test key: the sandbox's bytes. */
  prepared?: PreparedAnswer
  fault?: Fault
  /** The workspace's credits of the month after the call. Null if the caller is unknown. */
  credits: Credits | null
  /** The rate limit and the calls of this second. Left out if the call was not counted. */
  rate?: RateAnswer | undefined
  /** Credits this call cost. */
  cost: number
  operation?: Operation
  caller?: Caller
}

interface InvokeParts extends ChargeParts {
  apps: AppPort
  limits: Limits
  /** Deadline in milliseconds for operations without a deadline of their own. */
  deadlineMs: number
  sandboxAnswer: (operation: Operation, input: Record<string, unknown>) => PreparedAnswer
  now: () => Date
  publicUrl: string
  measure: Measure
  write: Write
  pictures: ReadPictures
  assistants: AssistantChecks
  platforms: Platforms
  disk?: DiskWatch | undefined
}

/** Throws nothing but CallerGone. */
export type Invoke = (call: Call) => Promise<Reply>

/** Returns the path of every call: identify, rate limit, find the target, check rights, run, charge once, answer. */
export function createInvoke(parts: InvokeParts): Invoke {
  return async (call) => {
    const startedAt = performance.now()
    try {
      if (call.keyInUrl) throw keyInUrlFault()
      const { identify, gate, deadlineMs } = parts
      const identity = [call.credentials, call.address, call.surface] as const
      const caller = identify.atHand(...identity) ?? (await gate.run(() => identify.identify(...identity), deadlineMs))
      return await replyToCaller(parts, call, caller, startedAt)
    } catch (error) {
      return faultReply(parts, call, error)
    }
  }
}

async function replyToCaller(parts: InvokeParts, call: Call, caller: Caller, startedAt: number): Promise<Reply> {
  let rate: RateAnswer | undefined
  try {
    rate = await parts.limits.rate.take(`key:${caller.keyId}`, caller.entitlements.ratePerSecond)
    if (!rate.allowed) throw new Fault("rate_limited", { limit: rate.limit }, { retryAfter: rate.retryAfterSeconds })
    const startOfTarget = performance.now()
    const target = await call.target()
    if (!target) return { status: 200, answer: undefined, credits: caller.credits, rate, cost: 0, caller }
    // the time that the caller takes to send its body does not count against the deadline
    const reply = await replyToTarget(parts, { call, caller, ...target }, startedAt + performance.now() - startOfTarget)
    return Object.assign(reply, { rate })
  } catch (error) {
    return faultReply(parts, call, error, { caller, rate })
  }
}

/** A call with its caller and target. Its input is checked on the way. */
interface ResolvedCall extends Target {
  call: Call
  caller: Caller
}

/**
 * Maximum time that the reply of a failed call waits until its allowances are returned. Returning them continues after
 * that.
 */
const GIVE_BACK_MS = 500

async function replyToTarget(parts: InvokeParts, resolved: ResolvedCall, startedAt: number): Promise<Reply> {
  const { call, caller, operation } = resolved
  const { sql, log, gate } = parts
  const takings = openTakings({ sql, log, requestId: call.requestId }, caller)
  let cost = 0
  try {
    const checked = { ...resolved, input: checkInput(operation, resolved.input) }
    if (caller.kind === "test") return sandboxReply(parts, checked)
    const until = startedAt + (operation.deadlineMs ?? parts.deadlineMs)
    const leftMs = () => Math.max(1, until - performance.now())
    // both checks are needed: the deadline's timer may fire almost a millisecond early, and the decision is final from
    // then on
    const givenUp = () => takings.ended || performance.now() > until
    const { take, release, returnUnit, takeMeasurement, returnMeasurement } = takings
    const ofCall = { givenUp, take, release, returnUnit, takeMeasurement, returnMeasurement }
    const begin = (schedule: (sql: Sql) => Sql) =>
      run(parts, checked, contextOf({ ...parts, sql: schedule(sql) }, checked, ofCall))
    const of = { workspaceId: caller.workspaceId, operation: operation.id }
    const outcome = narrowed(operation, checked.input, await gate.call(of, begin, leftMs()))
    if (!hasAnswer(outcome) && isConditional(operation) && (await call.holds?.(operation, outcome)))
      return { status: 304, answer: outcome, credits: caller.credits, cost, operation, caller }
    if (!call.isLooking) cost = await payFor(parts, { ...checked, requestId: call.requestId }, outcome, leftMs())
    if (outcome instanceof EmptyAnswer && outcome.answer instanceof Fault) throw outcome.answer
    await takings.keep()
    const answer = hasAnswer(outcome) ? outcome.answer : outcome
    const status = outcome instanceof PendingAnswer ? 202 : 200
    return { status, answer, credits: caller.credits, cost, operation, caller }
  } catch (error) {
    const reply = faultReply(parts, call, error, { caller, operation, input: resolved.input, cost })
    await within(GIVE_BACK_MS, takings.giveBack())
    return reply
  }
}

/** Returns the reply for an error, with the details of the call that are available. */
function faultReply(
  parts: InvokeParts,
  { requestId }: Call,
  error: unknown,
  { input, ...resolved }: Partial<Reply & Pick<ResolvedCall, "input">> = {},
): Reply {
  if (error instanceof CallerGone) throw error
  const fault = faultOf(parts, requestId, { ...resolved, input }, error)
  const credits = resolved.caller?.credits ?? creditsKnownAt(fault)
  return { status: fault.status, answer: fault.body(parts.publicUrl), fault, credits, cost: 0, ...resolved }
}

/** Returns the sandbox's answer for a test key. Test keys never write: an operation that writes is refused. */
function sandboxReply({ sandboxAnswer }: InvokeParts, { caller, operation, input }: ResolvedCall): Reply {
  if (operation.effect === "writes" || operation.effect === "previews") throw new Fault("test_key_read_only")
  const prepared = sandboxAnswer(operation, input)
  return { status: 200, answer: undefined, prepared, credits: caller.credits, cost: 0, operation, caller }
}

function contextOf(
  { sql, now, publicUrl, apps, limits, measure, write, pictures, assistants, platforms }: InvokeParts,
  { call, caller, agreed = false }: ResolvedCall,
  ofCall: AllowanceAccess & Pick<Context, "givenUp">,
): Context {
  return {
    sql,
    now,
    requestId: call.requestId,
    ...ofCall,
    caller,
    publicUrl,
    agreed,
    platforms,
    measure: call.isLooking ? glance(measure, caller) : (wanted, patience) => measure(wanted, patience, caller),
    write,
    pictures,
    assistants,
    visibleApps: () => apps.listVisible(sql, caller),
    hiveUsedToday: () => limits.hive.used(caller.workspaceId).catch(unlessAway),
  }
}

/** Reads nothing that the caller would have to wait or pay for. */
function glance(measure: Measure, caller: Caller): Context["measure"] {
  if (caller.plan !== "enterprise") return async () => ({ state: "failed", why: "off" })
  return (wanted, patience) => measure(wanted, { ...patience, waitMs: 0 }, caller)
}

function unlessAway(error: unknown): null {
  if (error instanceof AllowanceUnavailable) return null
  throw error
}

async function run(
  parts: InvokeParts,
  { call, caller, operation, input }: ResolvedCall,
  ctx: Context,
): Promise<unknown> {
  const { hive, price, terms } = operation
  const { scope, plan = "free" } = terms ? await terms(input, ctx) : operation
  await checkLatest(parts.identify, caller, () => checkRights(caller, call.surface, { scope, plan, hive }))
  const subject: { app?: TrackedApp } = operation.subject
    ? await readSubject(parts.apps, operation.subject, input, ctx)
    : {}
  if (subject.app) checkStorefronts(operation, input, storesOf(subject.app))
  const least = priceRange(price).min
  if (hive && cannotPay(caller, least)) await refuseSpentDay(parts, caller)
  await checkLatest(parts.identify, caller, () => checkPayable(caller, least))
  if (hive) await takeHive(parts, caller)
  return await operation.run({ ...input, ...subject }, ctx)
}

function storesOf({ iosId, androidPkg }: TrackedApp): ("ios" | "android")[] {
  return [...(iosId === null ? [] : ["ios" as const]), ...(androidPkg === null ? [] : ["android" as const])]
}

/** Returns the app of a call and the requested storefront (default: the app's first). */
async function readSubject(apps: AppPort, name: string, input: Record<string, unknown>, { sql, caller }: Context) {
  const country = input.country as string | undefined
  const app = await apps.find(sql, caller, input[name] as string, country)
  return { app, storefront: country ?? app.countries[0] }
}

/**
 * Throws if a Hive caller has used up the day's calls. This runs before the check of credits, so that a used-up day is
 * reported first, and a call refused for credits takes no unit of the day.
 */
async function refuseSpentDay({ limits, now }: InvokeParts, caller: Caller): Promise<void> {
  const perDay = hivePerDay(caller.explorer, caller.hasPack)
  const used = await limits.hive.used(caller.workspaceId)
  if (used >= perDay) throw spentDay(now(), perDay, used, nextMidnight(now()))
}

async function takeHive({ limits, now }: InvokeParts, caller: Caller): Promise<void> {
  const perDay = hivePerDay(caller.explorer, caller.hasPack)
  const { allowed, used, resetsAt } = await limits.hive.take(caller.workspaceId, perDay)
  if (!allowed) throw spentDay(now(), perDay, used, resetsAt)
}

function spentDay(now: Date, limit: number, used: number, resetsAt: string): Fault {
  const retryAfter = Math.max(1, Math.ceil((Date.parse(resetsAt) - now.getTime()) / 1_000))
  return new Fault("daily_hive_limit", { limit, used, resetsAt }, { retryAfter })
}

function hasAnswer(outcome: unknown): outcome is { answer: unknown } {
  return outcome instanceof EmptyAnswer || outcome instanceof PendingAnswer || outcome instanceof PaidAnswer
}
