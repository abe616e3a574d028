import { AccessProblem } from "../access/problem.ts"
import type { Sealer } from "../access/sealed.ts"
import type { Channel } from "../alerts/rules.ts"
import type { Sql } from "../database/types.ts"
import { dayOf } from "../formulas/days.ts"
import type { Log } from "../log.ts"
import { type SafeFetch, safeFetch } from "../outbound/safe-fetch.ts"
import { firstOf, single, within } from "../running.ts"
import { claimLanes, headOf, type Lane, release, setAside, settle } from "./lanes.ts"
import type { Opened } from "./message.ts"
import { openChannel } from "./opened.ts"
import { queueDeliveries } from "./queue.ts"
import { RETRIES_MS } from "./schedule.ts"
import { send } from "./send.ts"
import { messageOf } from "./told.ts"

export interface DeliveryOptions {
  sql: Sql
  sealer: Sealer
  log: Log
  /** Asks the addresses that workspaces named; safeFetch, which knows no private network, when left out. */
  outbound?: SafeFetch
  /** Where Telegram's bot API is, without a slash at the end; its own when left out. */
  telegramApi?: string | undefined
  now?: () => Date
  random?: () => number
  /** Channels sent on at once in this process: those that hang must leave room for the others. */
  atOnce?: number
  pollMs?: number
  leaseMs?: number
  /** The longest that an attempt may take. */
  timeoutMs?: number
  retriesMs?: readonly number[]
  /** Between two messages on one channel. */
  gapsMs?: Partial<Record<Channel, number>>
  /** How long a stop waits for what is under way, before it is given back. */
  stopMs?: number
}

export interface Delivery {
  /** Begins to look for what is to be told, every second. */
  start(): void
  /** Begins nothing more; what is under way after `stopMs` is given back, due at once. Ends at most a second later. */
  stop(): Promise<void>
  /** Writes and sends what is due now and waits for its end. Returns on how many channels it sent. */
  runOnce(): Promise<number>
}

/** Tells found alerts on the channels that rules name, in any number of processes beside each other. */
export function createDelivery(options: DeliveryOptions): Delivery {
  const { sql, log, pollMs = 1_000, stopMs = 1_000, atOnce = 256 } = options
  const parts = partsOf(options)
  const interrupted = firstOf(log, "delivery_interrupted")
  const runs = new Set<Promise<void>>()
  let state: "idle" | "started" | "stopping" = "idle"
  let timer: NodeJS.Timeout | undefined

  const launch = (lane: Lane) => {
    const run = tellOn(lane, parts)
      .catch(interrupted.failed)
      .then(() => {
        runs.delete(run)
        if (state === "started") look.go()
      })
    runs.add(run)
    return run
  }
  const begin = async () => {
    while ((await queueDeliveries(sql)) > 0 && state !== "stopping");
    const limit = atOnce - runs.size
    const lanes = limit > 0 && state !== "stopping" ? await claimLanes(sql, { limit, leaseMs: parts.leaseMs }) : []
    return lanes.map(launch)
  }
  const look = single(begin, interrupted)
  return {
    start() {
      if (state !== "idle") return
      state = "started"
      timer = setInterval(look.go, pollMs)
      look.go()
    },
    async stop() {
      state = "stopping"
      clearInterval(timer)
      parts.closing.abort()
      const idle = () => look.idle().then(() => Promise.all(runs))
      await within(stopMs, idle())
      parts.stopping.abort()
      await within(LAST_WORDS_MS, idle())
    },
    async runOnce() {
      const begun = await begin()
      await Promise.all(begun)
      return begun.length
    },
  }
}

const LAST_WORDS_MS = 900

type Parts = ReturnType<typeof partsOf>

function partsOf(options: DeliveryOptions) {
  const { sql, sealer, log, outbound = safeFetch, telegramApi } = options
  const { now = () => new Date(), random = Math.random, leaseMs = 45_000, timeoutMs = ATTEMPT_MS } = options
  if (timeoutMs >= leaseMs) throw new Error("a lease must outlast the attempt that it covers")
  const { retriesMs = RETRIES_MS } = options
  const stopping = new AbortController()
  return {
    ...{ sql, sealer, log, random, leaseMs, retriesMs, stopping, closing: new AbortController() },
    gapsMs: { ...GAPS_MS, ...options.gapsMs },
    port: { outbound, telegramApi, signal: stopping.signal, now, timeoutMs },
  }
}

/** The longest that an attempt may take, unless said. */
export const ATTEMPT_MS = 20_000

/** Both publish a message a second for one chat; a webhook's receiver is a machine. */
const GAPS_MS: Record<Channel, number> = { webhook: 0, telegram: 1_000, slack: 1_000 }

/** A channel that cannot be opened is looked at again after that. */
const UNOPENED_MS = 300_000

/** Sends what is due on a channel, one after the other, until something fails or nothing is due. */
async function tellOn(lane: Lane, parts: Parts): Promise<void> {
  const { sql, log } = parts
  try {
    const opened = await openChannel(parts.sealer, lane)
    while (!parts.closing.signal.aborted && (await tellNext(lane, opened, parts)));
  } catch (error) {
    if (parts.stopping.signal.aborted) return
    if (!(error instanceof AccessProblem)) throw error
    log("warn", "channel_not_opened", { operation: lane.kind, reason: error.message })
    await setAside(sql, lane, error.message, UNOPENED_MS)
  } finally {
    await release(sql, lane)
  }
}

/** False when there is nothing to go on with. */
async function tellNext(lane: Lane, opened: Opened, parts: Parts): Promise<boolean> {
  const { sql, log, retriesMs, random, gapsMs } = parts
  const head = await headOf(sql, lane, parts.leaseMs)
  if (!head) return false
  const sent = await send(opened, messageOf(head, dayOf(parts.port.now())), parts.port)
  const gapMs = gapsMs[lane.kind]
  const stood = await settle(sql, lane, { id: head.id, sent, retries: { retriesMs, random: random() }, gapMs })
  if (sent.result === "refused") log("warn", "channel_disabled", { operation: lane.kind, reason: sent.failure })
  else if (sent.result !== "delivered")
    log("info", `delivery_${sent.result}`, { operation: lane.kind, reason: sent.failure })
  return stood && sent.result === "delivered" && gapMs === 0
}
