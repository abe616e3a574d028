import { readFileSync } from "node:fs"
import process from "node:process"
import type { Listening, ListenOptions, StopReason } from "./commands/command.ts"
import { run, sentenceOf } from "./commands/run.ts"
import { socketRedisWire } from "./commands/socket-wire.ts"
import { processTerminal } from "./commands/terminal.ts"

// The same program under Deno, with a server database:
// deno run --no-lock --allow-env --allow-net --allow-read src/deno.ts serve

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
  process: { listen, redisWire: socketRedisWire, onStop, exit: (code) => process.exit(code) },
})
await terminal.flush()
process.exit(code)

interface DenoServer {
  addr: { port: number }
  finished: Promise<void>
  shutdown(): Promise<void>
}

/** What is used of Deno, whose own types are known only to Deno. */
interface DenoRuntime {
  serve(
    options: { hostname: string; port: number; signal: AbortSignal; onListen(): void },
    handler: (request: Request, info: { remoteAddr: { hostname: string } }) => Response | Promise<Response>,
  ): DenoServer
}

function listen({ host, port, fetch }: ListenOptions): Listening {
  const { Deno } = globalThis as unknown as { Deno: DenoRuntime }
  const dropped = new AbortController()
  const options = { hostname: host, port, signal: dropped.signal, onListen: () => {} }
  const server = Deno.serve(options, (request, { remoteAddr }) => fetch(request, remoteAddr.hostname))
  const end = async (now = false) => {
    if (now) dropped.abort()
    await (now ? server.finished : server.shutdown())
  }
  return { port: server.addr.port, stop: end }
}

function onStop(handler: typeof stop): void {
  stop = handler
  process.on("SIGTERM", () => stop("SIGTERM"))
  process.on("SIGINT", () => stop("SIGINT"))
}
