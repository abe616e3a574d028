import { type Limits, openLimits } from "../../access/limits/open.ts"
import type { Sql } from "../../database/types.ts"
import { redact, silentLog } from "../../log.ts"
import type { Invocation } from "../command.ts"
import { type Finding, ok, problem } from "./finding.ts"

/** Whether the Redis that counts calls answers. */
export async function checkLimits({ settings, process }: Pick<Invocation, "settings" | "process">): Promise<Finding[]> {
  const { upstash, redisUrl, redisPrefix: prefix } = settings
  const wire = redisUrl !== undefined && !upstash ? process.redisWire(redisUrl) : undefined
  if (!wire && !upstash) return [ok("limits", "calls a second are counted by each process for itself")]
  const [where, variable] = upstash ? [upstash.url, "UPSTASH_REDIS_REST_URL"] : [redisUrl!, "REDIS_URL"]
  const place = new URL(where).host
  try {
    // no daily calls are counted here, so nothing is asked of a database
    const limits = openLimits({ upstash, wire, sql: undefined as unknown as Sql, log: silentLog, prefix })
    if (await answersSoon(limits)) return [ok("limits", `counted in the Redis at ${place}`)]
    const says = `the Redis at ${redact(place)} does not answer: each process counts for itself, and Hive calls are refused`
    return [problem("limits", says, `start it, or correct ${variable}${upstash ? " and its token" : ""}`)]
  } finally {
    wire?.close()
  }
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
