import type { Caller } from "../access/caller.ts"
import { memoryLimiter } from "../access/limits/limiter.ts"
import { openLimits } from "../access/limits/open.ts"
import { entitlementsOf } from "../access/plans.ts"
import { SCOPES } from "../access/scopes.ts"
import type { Workspace } from "../access/workspaces.ts"
import type { Invocation } from "../commands/cli/command.ts"
import { createGate } from "../database/gate.ts"
import type { Sql } from "../database/types.ts"
import { createInvoke } from "../invoke.ts"
import { createLog } from "../log.ts"
import type { Operation } from "../operation.ts"
import { listeningUrl } from "../settings/settings.ts"
import { DAY_MS } from "../vocabulary/time.ts"
import { openPictureReading } from "./pictures.ts"
import { openStoreReading } from "./store-reading.ts"
import { openWriting } from "./writing.ts"

/** Asks an operation with an input as REST has it, and gives what it answers. Throws the Fault that it raises. */
export type AskOwner = (operation: Operation, input: Record<string, unknown>) => Promise<unknown>

const MONTH_MS = 31 * DAY_MS

/**
 * Whoever can open the database on the machine owns what it holds: calls need no key, have every right whatever the
 * workspace's plan, and cost nothing. Only reads: a write is charged and audited by its key. What reads a store is done by
 * the server or `appmeter work` of that database, and counts as the workspace's.
 */
export async function useOwner<T>(
  { settings, terminal, process }: Invocation,
  sql: Sql,
  workspace: Workspace,
  work: (ask: AskOwner) => Promise<T>,
): Promise<T> {
  const log = createLog(terminal.err, settings.logLevel === "debug" ? "debug" : "error")
  const { redisUrl, upstash, redisPrefix: prefix, allowPrivateTargets: allowPrivate, requestDeadlineMs } = settings
  const wire = redisUrl !== undefined && !upstash ? process.redisWire(redisUrl) : undefined
  const limits = openLimits({ upstash, wire, sql, log, prefix })
  const writing = openWriting(settings, { sql, log })
  const pictures = openPictureReading(settings, { sql, log })
  const caller = ownerOf(workspace)
  const paid = { refused: null, credits: { ...caller.credits, packCredits: 0 }, budget: null }
  const invoke = createInvoke({
    sql,
    identify: { identify: async () => caller, charged: () => {}, renew: async () => {} },
    charge: async () => paid,
    // a server's calls of this second are not ours
    limits: { ...limits, rate: memoryLimiter() },
    gate: createGate({ deadlineMs: requestDeadlineMs, maxWaiting: 10, places: 2 }),
    deadlineMs: requestDeadlineMs,
    sandboxAnswer: () => {
      throw new Error("an owner's call is live")
    },
    now: () => new Date(),
    log,
    publicUrl: settings.publicUrl ?? listeningUrl(settings.host, settings.port),
    measure: openStoreReading({ settings: settings.measuring, sql, log, allowPrivate }).measure,
    write: writing.write,
    pictures: pictures.read,
  })
  try {
    return await work(async (operation, input) => {
      const { fault, answer } = await invoke({
        surface: "tools",
        requestId: `terminal_${crypto.randomUUID()}`,
        credentials: { authorization: null, apiKey: null },
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
    // no key has this number
    keyId: 0,
    kind: "live",
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
