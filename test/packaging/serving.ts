import { expect } from "bun:test"
import type { Alone, Started, StartOptions } from "./alone.ts"

export interface Serving extends Started {
  url: string
  /** The live key, if this start created one. */
  key: string | undefined
  /** Time from the start of the process to the first 200. */
  firstMs: number
}

/** Starts a server of the binary and waits for its first 200 and then for its greeting. */
export async function serving(binary: Alone, options: StartOptions): Promise<Serving> {
  const startedAt = performance.now()
  const server = binary.start(["serve", "--json"], options)
  const ended = server.exited.then((code) => {
    throw new Error(`serve ended: ${code} ${server.err()}`)
  })
  ended.catch(() => {}) // the server's exit at the end of the test is no failure
  const found = async (readOutput: () => string, pattern: RegExp) => {
    while (!pattern.test(readOutput())) await Promise.race([Bun.sleep(5), ended])
    return pattern.exec(readOutput())![1]!
  }
  const url = await found(server.err, /"event":"listening","url":"([^"]+)"/)
  expect((await fetch(`${url}/v1/sandbox/apps`)).status).toBe(200)
  const firstMs = performance.now() - startedAt
  await found(server.out, /\n(\})\n/)
  return { ...server, url, key: /svc_live_\w{36}/.exec(server.out())?.[0], firstMs }
}
