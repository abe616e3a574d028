import { AccessProblem } from "../../access/problem.ts"
import type { Sealer } from "../../access/sealed.ts"
import { firstOf } from "../../jobs/timers.ts"
import { createWorker, type Run, type Worker, type WorkerOptions } from "../../jobs/worker.ts"
import { dayOf } from "../../lib/days.ts"
import { type SafeFetch, safeFetch } from "../../outbound/safe-fetch.ts"
import { eventWith, messageOf } from "./alert-message.ts"
import { CHANNEL_KINDS, type Channel } from "./channel-kinds.ts"
import {
  claimChannels,
  type LeasedChannel,
  readDueOfDay,
  readHead,
  release,
  setAside,
  settle,
} from "./channel-leases.ts"
import type { MailPort } from "./mail-port.ts"
import type { MovedResult } from "./message.ts"
import { storeMoved } from "./moved.ts"
import { queueDeliveries } from "./queue.ts"
import { RETRIES_MS } from "./schedule.ts"
import { type OpenedChannel, openChannel } from "./sealed-channel.ts"
import { send } from "./send.ts"

export interface DeliveryOptions extends WorkerOptions {
  sealer: Sealer
  /** Default: safeFetch, which reaches no private network. */
  outbound?: SafeFetch
  /** Without a trailing slash. Default: Telegram's own. */
  telegramApi?: string | undefined
  /** Default: none; messages to email channels then wait. */
  mail?: MailPort | null
  /** At most this many channels at once in this process. It is high so that hanging receivers leave room for others. */
  atOnce?: number
  timeoutMs?: number
  retriesMs?: readonly number[]
  /** Minimum time between two messages of a channel. Default: that of its kind. */
  gapsMs?: Partial<Record<Channel, number>>
}

export type Delivery = Worker

/** Delivers alerts to the channels that rules name. Any number of processes may run it. */
export function createDelivery(options: DeliveryOptions): Delivery {
  const { sql, log, pollMs = 1_000, stopMs = 1_000, atOnce = 256 } = options
  const parts = partsOf(options)
  const { leaseMs, now } = parts
  return createWorker<"channels", LeasedChannel>(
    {
      lanes: ["channels"],
      atOnce,
      async claim(_, { limit, closing }) {
        while (!closing.aborted && (await queueDeliveries(sql)) > 0);
        const claims = closing.aborted ? [] : await claimChannels(sql, { limit, leaseMs })
        return { claims, waitMs: claims.length < limit ? null : 0 }
      },
      // each message extends the lease itself
      perform: (run) => tellOn(run, parts),
      giveBack: (channel) => release(sql, channel),
    },
    { leaseMs, pollMs, stopMs, lastWordsMs: LAST_WORDS_MS, now, ends: firstOf(log, "delivery_worker_failed") },
  )
}

const LAST_WORDS_MS = 900

type DeliveryParts = ReturnType<typeof partsOf>

function partsOf(options: DeliveryOptions) {
  const { sql, sealer, log, outbound = safeFetch, telegramApi, mail = null } = options
  const { now = () => new Date(), random = Math.random, leaseMs = 45_000, timeoutMs = ATTEMPT_MS } = options
  if (timeoutMs >= leaseMs) throw new Error("a lease must outlast the attempt that it covers")
  const { retriesMs = RETRIES_MS } = options
  const { gapsMs = {} } = options
  return { sql, sealer, log, random, leaseMs, retriesMs, gapsMs, outbound, telegramApi, mail, now, timeoutMs }
}

export const ATTEMPT_MS = 20_000

/** Delay before a channel that could not be opened is retried. */
const UNOPENED_MS = 300_000

/** Sends the due deliveries of a channel one after another, until one fails, nothing is due or the worker stops. */
async function tellOn(run: Run<LeasedChannel>, parts: DeliveryParts): Promise<void> {
  const { sql, log } = parts
  const { claim: channel, abort, closing } = run
  try {
    const target = { channel, opened: await openChannel(parts.sealer, channel) }
    while (!closing.aborted && (await tellNext(target, { ...parts, signal: abort.signal })));
  } catch (error) {
    if (abort.signal.aborted) return
    if (!(error instanceof AccessProblem)) throw error
    log("warn", "channel_unreadable", { operation: channel.kind, reason: error.message })
    await setAside(sql, channel, error.message, UNOPENED_MS)
  } finally {
    await release(sql, channel)
  }
}

/** A leased channel as it is now: its address changes while it is leased if the receiver moves. */
interface Target {
  channel: LeasedChannel
  opened: OpenedChannel
}

async function tellNext(target: Target, parts: DeliveryParts & { signal: AbortSignal }): Promise<boolean> {
  const { sql, log, retriesMs, random, gapsMs } = parts
  const { channel } = target
  const head = await readHead(sql, channel, parts.leaseMs)
  if (!head) return false
  const { isGrouped, gapMs: usualGapMs } = CHANNEL_KINDS[channel.kind]
  const event = isGrouped ? eventWith(head, await readDueOfDay(sql, channel, head)) : [head]
  const message = messageOf(head, event, dayOf(parts.now()))
  const port = { ...parts, channelId: channel.id }
  const sent = await send(target.opened, message, port, (moved) => follow(target, moved, parts))
  const gapMs = gapsMs[channel.kind] ?? usualGapMs
  const ids = event.map(({ id }) => id)
  const stood = await settle(sql, channel, { ids, sent, retries: { retriesMs, random: random() }, gapMs })
  const about = { operation: channel.kind, reason: sent.result === "delivered" ? undefined : sent.failure }
  if (sent.result === "refused") log("warn", "channel_disabled", about)
  if (sent.result === "failed" || sent.result === "ended") log("info", "delivery_failed", about)
  if (sent.result === "throttled") log("info", "delivery_throttled", about)
  return stood && sent.result === "delivered" && gapMs === 0
}

async function follow(target: Target, moved: MovedResult, parts: DeliveryParts): Promise<boolean> {
  const sealed = await storeMoved(parts, target.channel, moved)
  if (sealed === null) return false
  target.channel = { ...target.channel, sealed }
  target.opened = { ...target.opened, secret: moved.secret }
  parts.log("info", "channel_moved", { operation: target.channel.kind })
  return true
}
