import { Redis } from "@upstash/redis"
import type { Sql } from "../../database/types.ts"
import type { Log } from "../../lib/log.ts"
import { DAY_MS } from "../../lib/time.ts"
import { type HiveAllowance, hiveInPostgres, hiveInStore } from "../hive-allowance.ts"
import { fixedWindow } from "./fixed-window.ts"
import { memoryLimiter, type RateLimiter, SECOND_MS } from "./limiter.ts"
import { WireRequester } from "./redis-requester.ts"
import type { RedisWire } from "./redis-wire.ts"
import { sharedLimiter, upstashRedis } from "./upstash.ts"

export interface Limits {
  rate: RateLimiter
  hive: HiveAllowance
  /** The store that counts calls per second and daily Hive calls. For "process", PostgreSQL counts Hive calls. */
  store: "upstash" | "redis" | "process"
  /** Whether the store answers within 250 ms. Always true for "process". Never throws. */
  ping(): Promise<boolean>
}

export interface LimitsOptions {
  upstash?: { url: string; token: string }
  wire?: RedisWire
  sql: Sql
  log: Log
  now?: () => Date
  /**
   * Prefix of every key in the store. Instances that share a store but not their workspaces need different prefixes.
   */
  prefix?: string
}

/** Opens the limits in Upstash if configured, otherwise in Redis, otherwise in this process and its database. */
export function openLimits({ sql, ...options }: LimitsOptions): Limits {
  const inProcess = (): Limits => ({
    rate: memoryLimiter(options.now),
    hive: hiveInPostgres(sql),
    store: "process",
    ping: async () => true,
  })
  return openSharedLimits(options) ?? inProcess()
}

/** Null if no store is shared between processes. */
export function openSharedLimits({
  upstash,
  wire,
  log,
  now,
  prefix = "appmeter",
}: Omit<LimitsOptions, "sql">): Limits | null {
  const redis = upstash ? upstashRedis(upstash) : wire && new Redis(new WireRequester(wire))
  if (!redis) return null
  const rate = fixedWindow(redis, { prefix: `${prefix}:rate`, windowMs: SECOND_MS, timeoutMs: RATE_MS, now })
  const hive = fixedWindow(redis, { prefix: `${prefix}:hive`, windowMs: DAY_MS, timeoutMs: HIVE_MS, now })
  return {
    rate: sharedLimiter(rate, log, now),
    hive: hiveInStore(hive),
    store: upstash ? "upstash" : "redis",
    ping: () => answers(redis),
  }
}

const RATE_MS = 250
// A slow store only delays a call, whereas a timeout makes it fail with 503.
const HIVE_MS = 1_000

async function answers(redis: Redis): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, RATE_MS, false)
  const pong = redis.ping().then(
    () => true,
    () => false,
  )
  return Promise.race([pong, late]).finally(() => clearTimeout(timer))
}
