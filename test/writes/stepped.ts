import { AsyncLocalStorage } from "node:async_hooks"
import type { Sql, Tx } from "../../src/database/types.ts"

/** Hooks around the statements of a transaction. Awaiting a hook delays the transaction. */
export interface Steps {
  /** Called before the transaction requests a connection. */
  begin?(): void | Promise<void>
  /** Called right before the nth statement is sent, counted from 1. */
  statement?(n: number, text: string): void | Promise<void>
  /** Called right before the commit is sent, after n statements. */
  commit?(n: number): void | Promise<void>
  /** Called once the database has committed, before the caller gets the result. */
  committed?(): void | Promise<void>
  /** Called when the transaction has ended, whether committed or rolled back. */
  ended?(): void
}

/** Wraps a client with hooks around its transactions, so that the service itself needs none. */
export function stepped(sql: Sql, { begin, statement, commit, committed, ended }: Steps): Sql {
  const committing = async (work: (tx: Tx) => Promise<unknown>) => {
    await begin?.()
    const result = await sql.begin(async (tx) => {
      let n = 0
      const outcome = await work(watched(tx as Tx, (text) => statement?.(++n, text)))
      await commit?.(n)
      return outcome
    })
    await committed?.()
    return result
  }
  const transaction = (work: (tx: Tx) => Promise<unknown>) => committing(work).finally(ended)
  return new Proxy(sql, { get: (target, name) => (name === "begin" ? transaction : Reflect.get(target, name)) })
}

/** Wraps a client for a whole service. `during` sets the hooks for the transactions of the given work. */
export function steppable(sql: Sql): { sql: Sql; during<T>(steps: Steps, work: () => T): T } {
  const current = new AsyncLocalStorage<Steps>()
  const steps: Required<Steps> = {
    begin: () => current.getStore()?.begin?.(),
    statement: (n, text) => current.getStore()?.statement?.(n, text),
    commit: (n) => current.getStore()?.commit?.(n),
    committed: () => current.getStore()?.committed?.(),
    ended: () => current.getStore()?.ended?.(),
  }
  return { sql: stepped(sql, steps), during: (steps, work) => current.run(steps, work) }
}

interface Sending {
  handle(): unknown
}

function watched(tx: Tx, sending: (text: string) => void | Promise<void>): Tx {
  return new Proxy(tx, {
    apply(target, self, args) {
      const query = Reflect.apply(target, self, args)
      const text: string | undefined = args[0]?.raw?.join("$")
      // a fragment inside another statement is not sent on its own
      if (text !== undefined) beforeHandling(query, () => sending(text.trim().split("\n")[0] as string))
      return query
    },
  })
}

function beforeHandling(query: Sending, sending: () => void | Promise<void>): void {
  const handle = query.handle
  let sent = false
  query.handle = function (this: Sending) {
    if (sent) return
    sent = true
    const pause = sending()
    return pause ? pause.then(() => handle.call(this)) : handle.call(this)
  }
}
