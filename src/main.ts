#!/usr/bin/env bun
import { readFileSync } from "node:fs"
import type { StopReason } from "./commands/command.ts"
import { listen } from "./commands/listen.ts"
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

function onStop(handler: typeof stop): void {
  stop = handler
  process.on("SIGTERM", () => stop("SIGTERM"))
  process.on("SIGINT", () => stop("SIGINT"))
}
