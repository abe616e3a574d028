// Fetches the URL of each input line (JSON), and reports the result and by how much the memory of the process grew.
// Runs under Bun and Deno.

import process from "node:process"
import { createInterface } from "node:readline"
import type { OutboundProblem } from "../../src/outbound/problem.ts"
import { type OutboundAnswer, type OutboundOptions, safeFetch } from "../../src/outbound/safe-fetch.ts"
import { AUTHORITY } from "./certificates.ts"

export interface Asking {
  url: string
  options: Pick<OutboundOptions, "ports" | "totalMs" | "firstByteMs">
}

export interface Ended {
  /** The body of the response, or the code of the problem. */
  outcome: string
  grownMb: number
  tookMs: number
}

for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await ended(JSON.parse(line))))

async function ended({ url, options }: Asking): Promise<Ended> {
  const startedAt = performance.now()
  const before = process.memoryUsage().rss
  let most = before
  const measure = () => {
    most = Math.max(most, process.memoryUsage().rss)
  }
  const timer = setInterval(measure, 2)
  const allowPrivate = { includes: (address: string) => address === "127.0.0.1" }
  const resolve = async () => ["127.0.0.1"]
  const result = await safeFetch(url, { ...options, allowPrivate, resolve, ca: AUTHORITY }).then(
    ({ bytes }: OutboundAnswer) => new TextDecoder().decode(bytes),
    (problem: OutboundProblem) => problem.code ?? String(problem),
  )
  measure()
  clearInterval(timer)
  return { outcome: result, grownMb: (most - before) / 1e6, tookMs: performance.now() - startedAt }
}
