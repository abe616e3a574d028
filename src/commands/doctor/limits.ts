import { type Limits, openSharedLimits } from "../../access/limits/open.ts"
import { redact, silentLog } from "../../lib/log.ts"
import type { Invocation } from "../cli/command.ts"
import { type Finding, ok, problem } from "./finding.ts"

/** Checks whether the Redis that counts calls answers. */
export async function checkLimits({ settings, process }: Pick<Invocation, "settings" | "process">): Promise<Finding[]> {
  const { upstash, redisUrl, redisPrefix: prefix } = settings
  const wire = redisUrl !== undefined && !upstash ? process.redisWire(redisUrl) : undefined
  const limits = openSharedLimits({ upstash, wire, log: silentLog, prefix })
  const where = upstash?.url ?? redisUrl
  if (!limits || where === undefined) return [ok("limits", "calls per second are counted by each process separately")]
  const place = new URL(where).host
  try {
    if (await answersSoon(limits)) return [ok("limits", `counted in the Redis at ${place}`)]
    const effect = "each process counts separately and Hive calls are refused"
    const says = `the Redis at ${redact(place)} does not answer, so ${effect}`
    return [problem("limits", says, upstash ? fixUpstash(where) : fixRedis(place))]
  } finally {
    wire?.close()
  }
}

function fixRedis(place: string): string {
  const [, host, port = "6379"] = /^(.*?)(?::(\d+))?$/.exec(place)!
  const check = `start it and check that it answers PONG: redis-cli -h ${host} -p ${port} ping`
  return `${check}; if it is elsewhere, set REDIS_URL=redis://:PASSWORD@HOST:6379`
}

function fixUpstash(url: string): string {
  const ping = `curl -H "authorization: Bearer $UPSTASH_REDIS_REST_TOKEN" ${redact(url)}/ping`
  const check = `check that it answers PONG: ${ping}`
  return `${check}; if not, set UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN as the Upstash console shows them`
}

// The same time limit as at the start of a server (process/serving.ts).
const SOON_MS = 1_000

async function answersSoon({ ping }: Limits): Promise<boolean> {
  const until = performance.now() + SOON_MS
  while (!(await ping())) {
    if (performance.now() > until) return false
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return true
}
