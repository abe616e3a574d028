import { join } from "node:path"
import { createInterface } from "node:readline"
import { Readable } from "node:stream"

/** Where a process kills itself with SIGKILL. */
export type Death =
  | { before: number }
  | { commit: "to be sent" | "sent" | "done"; turns?: number }
  | { afterMs: number }

/** One or more confirms of a token at once. */
export interface Asked {
  key: string
  token: string
  calls?: number
  death?: Death
}

export interface Confirming extends Disposable {
  /** It holds the database. */
  ready: Promise<void>
  /** How often each answer came; { died: where } when it killed itself first. */
  ask(asked: Asked): Promise<Record<string, number | string>>
  exited: Promise<number>
  kill(): void
}

/** The whole service in a process of its own, over a server's database or a data directory. */
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
  // one that is never asked may end before it is ready
  ready.catch(() => {})
  const kill = () => child.kill("SIGKILL")
  return {
    ready,
    async ask(asked) {
      await ready
      child.stdin.write(`${JSON.stringify(asked)}\n`)
      await child.stdin.flush()
      return await next()
    },
    exited: child.exited,
    kill,
    [Symbol.dispose]: kill,
  }
}
