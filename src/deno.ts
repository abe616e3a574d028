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

// Deno 2.9.6 tells a module nothing of how it was started: `deno serve` calls onListen once the port is open, `deno run`
// calls nothing, so that there is nothing left to do.
process.once("beforeExit", () => void runToItsEnd([], listen))

const app = Promise.withResolvers<ListenOptions["fetch"]>()
const underWay = new Set<Promise<void>>()
let listens = false

/** For `deno serve`, whose flags say where it listens. Calls that come before the database is migrated wait for that. */
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

// only one of its workers is told where it listens, and the first that ends takes the others with it
const PARALLEL = "deno serve --parallel is not supported; start several processes on one database instead"

interface Address {
  hostname: string
  port: number
}

interface CallInfo {
  remoteAddr: { hostname: string }
  /** Settles when the answer has left, or the caller has. */
  completed: Promise<void>
}

interface DenoServer {
  addr: { port: number }
  finished: Promise<void>
  shutdown(): Promise<void>
}

/** What is used of Deno, whose own types are known only to Deno. */
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
 * The port of `deno serve`. Deno 2.9.6 closes it itself at SIGTERM and SIGINT, before anything can be drained, and no
 * other stop can close it: what comes then is answered, until nothing is under way.
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
