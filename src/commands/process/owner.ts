import type { Caller } from "../../access/caller.ts"
import { type ChargeCall, createChargeCall } from "../../access/credits.ts"
import { createIdentify, type Identify } from "../../access/identify.ts"
import { memoryLimiter } from "../../access/limits/limiter.ts"
import { openLimits } from "../../access/limits/open.ts"
import { entitlementsOf } from "../../access/plans.ts"
import { SCOPES } from "../../access/scopes.ts"
import type { Workspace } from "../../access/workspaces.ts"
import { createInvoke } from "../../core/invoke.ts"
import type { Operation } from "../../core/operation.ts"
import { createGate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import { NO_PLATFORMS } from "../../lib/accounts/platform.ts"
import { createLog } from "../../lib/log.ts"
import { DAY_MS } from "../../lib/time.ts"
import { listeningUrl } from "../../settings/settings.ts"
import { trackedApps } from "../../tracking/tracked-app.ts"
import { CommandProblem, type Invocation } from "../cli/command.ts"
import { checksOf } from "./asking.ts"
import { openPictureReading } from "./pictures.ts"
import { openStoreReading } from "./store-reading.ts"
import { openWriting } from "./writing.ts"

/** Runs an operation with the same input as over REST and returns its answer. Throws its Fault. */
export type AskOwner = (operation: Operation, input: Record<string, unknown>) => Promise<unknown>

const MONTH_MS = 31 * DAY_MS

/**
 * Runs reads as the workspace's owner: without a key, with every right and free of charge, because a user who can open
 * the database owns its data. Writes need a key, for charge and audit. The server or `appmeter work` with the same
 * database does live reads; they count for the workspace.
 */
export async function useOwner<T>(
  invocation: Invocation,
  sql: Sql,
  workspace: Workspace,
  work: (ask: AskOwner) => Promise<T>,
): Promise<T> {
  const caller = ownerOf(workspace)
  const paid = { refused: null, credits: { ...caller.credits, packCredits: 0 }, budget: null }
  return await useInvoke(invocation, sql, { ...OWN, paid: async () => paid, identified: async () => caller }, work)
}

/** Runs operations with a key, like an assistant: with its rights and charges, and audited under its name. */
export async function useKey<T>(
  invocation: Invocation,
  sql: Sql,
  apiKey: string,
  work: (ask: AskOwner) => Promise<T>,
): Promise<T> {
  return await useInvoke(invocation, sql, { authorization: null, apiKey }, work)
}

const OWN = { authorization: null, apiKey: null }

/** The credentials of a call: a key, or an owner who needs none. */
interface TerminalCaller {
  authorization: null
  apiKey: string | null
  identified?: Identify["identify"]
  paid?: ChargeCall
}

async function useInvoke<T>(
  { settings, terminal, process }: Invocation,
  sql: Sql,
  { identified, paid, ...credentials }: TerminalCaller,
  work: (ask: AskOwner) => Promise<T>,
): Promise<T> {
  const log = createLog(terminal.err, settings.logLevel === "debug" ? "debug" : "error")
  const { redisUrl, upstash, redisPrefix: prefix, allowPrivateTargets: allowPrivate, requestDeadlineMs } = settings
  const wire = redisUrl !== undefined && !upstash ? process.redisWire(redisUrl) : undefined
  const limits = openLimits({ upstash, wire, sql, log, prefix })
  const writing = openWriting(settings, { sql, log })
  const pictures = openPictureReading(settings, { sql, log })
  const now = () => new Date()
  const identifying: Identify = { identify: identified!, atHand: () => null, charged: () => {}, renew: async () => {} }
  const invoke = createInvoke({
    sql,
    apps: trackedApps,
    identify: identified ? identifying : createIdentify({ sql, now, log }),
    charge: paid ?? createChargeCall(sql),
    // counts the calls of this process only, not those that go through a server
    limits: { ...limits, rate: memoryLimiter() },
    gate: createGate({ deadlineMs: requestDeadlineMs, maxWaiting: 10, slots: 2 }),
    deadlineMs: requestDeadlineMs,
    sandboxAnswer: () => {
      throw new CommandProblem("a test key answers with invented data; use a live one")
    },
    now,
    log,
    publicUrl: settings.publicUrl ?? listeningUrl(settings.host, settings.port),
    measure: openStoreReading({ settings: settings.measuring, sql, log, allowPrivate }).measure,
    write: writing.write,
    pictures: pictures.read,
    assistants: checksOf(settings),
    platforms: NO_PLATFORMS,
  })
  try {
    return await work(async (operation, input) => {
      const { fault, answer } = await invoke({
        surface: "tools",
        requestId: `terminal_${crypto.randomUUID()}`,
        credentials,
        keyInUrl: false,
        address: null,
        target: async () => ({ operation, input }),
      })
      if (fault) throw fault
      return answer
    })
  } finally {
    wire?.close()
    await Promise.all([writing.stop(), pictures.stop()])
  }
}

function ownerOf({ id, overrides }: Workspace): Caller {
  const resetsAt = new Date(Date.now() + MONTH_MS).toISOString()
  return {
    workspaceId: id,
    // no key has this id
    keyId: 0,
    kind: "live",
    person: null,
    plan: "enterprise",
    explorer: true,
    hasPack: true,
    boughtPack: true,
    entitlements: entitlementsOf("enterprise", overrides),
    scopes: SCOPES,
    appList: null,
    credits: { used: 0, limit: Number.MAX_SAFE_INTEGER, remaining: Number.MAX_SAFE_INTEGER, resetsAt },
    budget: null,
  }
}
