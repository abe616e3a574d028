import process from "node:process"
import { ioredisWire } from "./access/redis/ioredis-wire.ts"
import { CommandProblem, type ListeningProcess, type ListenOptions } from "./commands/cli/command.ts"
import { openProcess } from "./commands/process.ts"

// The same program under Deno, with a server database:
// deno run --no-lock --allow-env --allow-net --allow-read src/deno.ts serve
// deno serve --no-lock --allow-env --allow-net --allow-read --host 127.0.0.1 --port 8787 src/deno.ts

const { runToItsEnd, fail } = openProcess(ioredisWire)
const words = process.argv.slice(2)
if (words.length > 0) await runToItsEnd(words, listen)

// Deno 2.9.6 does not show a module how it was started. `deno serve` calls onListen once the port is open. `deno run`
// calls nothing, so that the event loop becomes empty.
process.once("beforeExit", () => void runToItsEnd([], listen))

const app = Promise.withResolvers<ListenOptions["fetch"]>()
const underWay = new Set<Promise<void>>()
let listens = false

/** Entry point of `deno serve`, whose flags set the address. Calls wait until the database is migrated. */
export default {
  onListen({ hostname, port }: Address): void {
    listens = true
    const env = { ...process.env, HOST: hostname, PORT: String(port) }
    const open = (options: ListenOptions) => (options.port === port ? listenAlready(options) : listen(options))
    void runToItsEnd(["serve"], open, env)
  },

  async fetch(request: Request, { remoteAddr, completed }: CallInfo): Promise<Response> {
    if (!listens) fail(new CommandProblem(PARALLEL))
    const sent = completed.catch(() => {}).finally(() => underWay.delete(sent))
    underWay.add(sent)
    return (await app.promise)(request, remoteAddr.hostname)
  },
}

// Only one worker receives the address, and the first worker to exit ends the others.
const PARALLEL = "deno serve --parallel is not supported; start several processes on one database instead"

interface Address {
  hostname: string
  port: number
}

interface CallInfo {
  remoteAddr: { hostname: string }
  /** Settles when the response is sent or the caller disconnects. */
  completed: Promise<void>
}

interface DenoServer {
  addr: { port: number }
  finished: Promise<void>
  shutdown(): Promise<void>
}

/** The parts of the Deno API that are used here. Other runtimes do not have its types. */
declare const Deno: {
  serve(
    options: { hostname: string; port: number; signal: AbortSignal; onListen(): void },
    handler: (request: Request, info: CallInfo) => Response | Promise<Response>,
  ): DenoServer
}

function listen({ host, port, fetch }: ListenOptions): ListeningProcess {
  const dropped = new AbortController()
  const options = { hostname: host, port, signal: dropped.signal, onListen: () => {} }
  const server = Deno.serve(options, (request, { remoteAddr }) => fetch(request, remoteAddr.hostname))
  const end = async (now = false) => {
    if (now) dropped.abort()
    await (now ? server.finished : server.shutdown())
  }
  return { port: server.addr.port, stop: end }
}

/**
 * Uses the port of `deno serve`. Deno 2.9.6 closes the port itself on SIGTERM and SIGINT, before calls can be drained,
 * and no other stop can close it. Requests are therefore served until none is in progress.
 */
function listenAlready({ port, fetch }: ListenOptions): ListeningProcess {
  const dropped = Promise.withResolvers<void>()
  let isDropped = false
  app.resolve(fetch)
  const end = async (now = false) => {
    isDropped ||= now
    if (now) dropped.resolve()
    while (underWay.size > 0 && !isDropped) await Promise.race([...underWay, dropped.promise])
  }
  return { port, stop: end }
}
