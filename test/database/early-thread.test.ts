import { expect } from "bun:test"
import { type Backend, startBackend, startEarly } from "../../src/database/embedded/thread.ts"
import { query } from "../../src/database/embedded/wire.ts"
import { slow } from "../long.ts"

slow("the first database uses the thread that was started early, and the second database a new thread", async () => {
  const Plain = globalThis.Worker
  let threads = 0
  globalThis.Worker = class extends Plain {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options)
      threads += 1
    }
  }
  const opened: Backend[] = []
  const errors: Error[] = []
  try {
    startEarly()
    for (const expected of [1, 2]) {
      opened.push(await startBackend(null, (error) => errors.push(error)))
      expect(threads).toBe(expected)
    }
  } finally {
    globalThis.Worker = Plain
  }
  const [first, second] = opened as [Backend, Backend]
  const answerOf = async (backend: Backend, text: string) =>
    Buffer.from(await backend.exec(new Uint8Array(query(text)))).toString()
  expect(await answerOf(first, "create table mine (); select to_regclass('mine')")).toContain("mine")
  expect(await answerOf(second, "select to_regclass('mine')")).not.toContain("mine")
  for (const { close } of opened) await close()
  expect(errors).toEqual([])
})
