#!/usr/bin/env bun
import { readFileSync } from "node:fs"
import type { Listening, ListenOptions, StopReason } from "./commands/command.ts"
import { bunRedisWire } from "./commands/redis-wire.ts"
import { run, sentenceOf } from "./commands/run.ts"
import { processTerminal } from "./commands/terminal.ts"

const terminal = processTerminal(process, process.env)

let stop = (_why: StopReason, error?: unknown): void => {
  terminal.say(`appmeter: ${sentenceOf(error)}`)
  process.exit(1)
}
process.on("uncaughtException", (error) => stop("error", error))
process.on("unhandledRejection", (error) => stop("error", error))

const code = await run(process.argv.slice(2), {
  env: process.env,
  readFile: (path) => readFileSync(path, "utf8"),
  terminal,
  process: { listen, redisWire: bunRedisWire, onStop, exit: (code) => process.exit(code) },
})
await terminal.flush()
process.exit(code)

function listen({ host, port, fetch }: ListenOptions): Listening {
  const server = Bun.serve({
    hostname: host,
    port,
    maxRequestBodySize: 1024 * 1024,
    // below it, Bun drops a connection whose answer takes long; a body dripped byte by byte is closed soon after
    idleTimeout: 30,
    development: false,
    // without development it is on (Bun 1.4.5), and a second process takes half of the calls unnoticed
    reusePort: false,
    fetch: (request, server) => fetch(request, server.requestIP(request)?.address ?? null),
  })
  return { port: server.port ?? port, stop: (now = false) => server.stop(now) }
}

function onStop(handler: typeof stop): void {
  stop = handler
  process.on("SIGTERM", () => stop("SIGTERM"))
  process.on("SIGINT", () => stop("SIGINT"))
}
