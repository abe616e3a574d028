import { join } from "node:path"
import { createInterface } from "node:readline"
import { Readable } from "node:stream"

/** The point where a process kills itself with SIGKILL. */
export type Death =
  | { before: number }
  | { commit: "to be sent" | "sent" | "done"; turns?: number }
  | { afterMs: number }

/** One or more simultaneous confirms of a token. */
export interface ConfirmRequest {
  key: string
  token: string
  calls?: number
  death?: Death
}

export interface Confirming extends Disposable {
  /** Resolves once the process has opened the database. */
  ready: Promise<void>
  /** Returns how often each answer occurred, or { died: where } if the process killed itself first. */
  ask(request: ConfirmRequest): Promise<Record<string, number | string>>
  exited: Promise<number>
  kill(): void
}

/** Starts the whole service in a separate process, on a server's database or a data directory. */
export function confirming(at: { databaseUrl: string } | { dataDir: string }): Confirming {
  const { DATABASE_URL: _, ...env } = process.env
  const script = join(import.meta.dirname, "confirming-process.ts")
  const child = Bun.spawn([process.execPath, script, JSON.stringify(at)], {
    stdio: ["pipe", "pipe", "inherit"],
    env,
  })
  const lines = createInterface({ input: Readable.fromWeb(child.stdout as never) })[Symbol.asyncIterator]()
  const next = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`the process ended: ${await child.exited}`)
    return JSON.parse(value)
  }
  const ready = next().then(() => {})
  // a process without requests may end before it is ready
  ready.catch(() => {})
  const kill = () => child.kill("SIGKILL")
  return {
    ready,
    async ask(request) {
      await ready
      child.stdin.write(`${JSON.stringify(request)}\n`)
      await child.stdin.flush()
      return await next()
    },
    exited: child.exited,
    kill,
    [Symbol.dispose]: kill,
  }
}
