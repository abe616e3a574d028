import { type Limits, openSharedLimits } from "../../access/limits/open.ts"
import { redact, silentLog } from "../../lib/log.ts"
import type { Invocation } from "../cli/command.ts"
import { type Finding, ok, problem } from "./finding.ts"

/** Whether the Redis that counts calls answers. */
export async function checkLimits({ settings, process }: Pick<Invocation, "settings" | "process">): Promise<Finding[]> {
  const { upstash, redisUrl, redisPrefix: prefix } = settings
  const wire = redisUrl !== undefined && !upstash ? process.redisWire(redisUrl) : undefined
  const limits = openSharedLimits({ upstash, wire, log: silentLog, prefix })
  const where = upstash?.url ?? redisUrl
  if (!limits || where === undefined) return [ok("limits", "calls per second are counted by each process separately")]
  const place = new URL(where).host
  try {
    if (await answersSoon(limits)) return [ok("limits", `counted in the Redis at ${place}`)]
    const says = `the Redis at ${redact(place)} does not answer, so each process counts separately and Hive calls are refused`
    return [problem("limits", says, upstash ? mendUpstash(where) : mendRedis(place))]
  } finally {
    wire?.close()
  }
}

function mendRedis(place: string): string {
  const [, host, port = "6379"] = /^(.*?)(?::(\d+))?$/.exec(place)!
  const see = `start it and check that it answers PONG: redis-cli -h ${host} -p ${port} ping`
  return `${see}; if it is elsewhere, set REDIS_URL=redis://:PASSWORD@HOST:6379`
}

function mendUpstash(url: string): string {
  const see = `check that it answers PONG: curl -H "authorization: Bearer $UPSTASH_REDIS_REST_TOKEN" ${redact(url)}/ping`
  return `${see}; if not, set UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN as the Upstash console shows them`
}

// As long as a starting server waits for it.
const SOON_MS = 1_000

async function answersSoon({ ping }: Limits): Promise<boolean> {
  const until = performance.now() + SOON_MS
  while (!(await ping())) {
    if (performance.now() > until) return false
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return true
}
