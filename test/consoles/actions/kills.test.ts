import { beforeEach, expect, setDefaultTimeout } from "bun:test"
import { join } from "node:path"
import { scratchUrl } from "../../database.ts"
import { until } from "../../jobs/platform.ts"
import { longOnServer } from "../../long.ts"
import { listingArgs } from "./listing-args.ts"
import { stockShelf, textsAt } from "./listing-scene.ts"
import { consoleScene, REVIEW } from "./scene.ts"

// Kills the worker with kill -9 while a change is in flight, before and after the console has received it. Another
// process takes over.

setDefaultTimeout(60_000)

const scene = consoleScene()
beforeEach(() => stockShelf(scene.standIn.shelf))

const REPLY = "We are looking into it."
const FIELDS = { name: "Tea Timer Pro", description: "Counts minutes and cups." }

/** Kills a worker while its nth change (0 is the first) is delayed. */
async function killAt(nth: number, applied: boolean): Promise<void> {
  scene.cutter.cut({ at: "held", applied }, nth)
  const task = JSON.stringify({ databaseUrl: scratchUrl(scene.sql), console: scene.cutter.url })
  const child = Bun.spawn([process.execPath, join(import.meta.dirname, "worker-process.ts"), task], {
    stderr: "inherit",
  })
  await until(async () => (applied ? scene.sent() : scene.cutter.changes).length === nth + 1)
  child.kill("SIGKILL")
  await child.exited
}

/**
 * Returns the job's state after another process took it over: when the dead worker's lease has ended and every proof
 * has been tried.
 */
async function foundOut(id: string): Promise<string> {
  await until(async () => {
    await scene.worker.runOnce()
    return !["queued", "running"].includes((await scene.job(id)).status)
  })
  expect((await scene.job(id)).status).toBe("unknown")
  for (const minutes of [1, 10, 60, 1_440]) await scene.after(id, minutes)
  return (await scene.job(id)).status
}

longOnServer.each([false, true])(
  "postgres: a reply is sent once if its worker is killed (applied: %p), and a second worker finishes the job",
  async (applied) => {
    const id = await scene.queued("reply_review", {
      appId: scene.appId,
      country: "us",
      reviewId: REVIEW.id,
      response: REPLY,
    })
    await killAt(0, applied)
    expect([await foundOut(id), await scene.used()]).toEqual(applied ? ["done", 2] : ["failed", 0])
    expect(scene.standIn.shelf.reviews[0]!.reply?.attributes.responseBody).toBe(applied ? REPLY : undefined)
    expect(scene.cutter.changes).toHaveLength(1)
  },
)

longOnServer.each([
  [0, false],
  [0, true],
  [1, false],
  [1, true],
] as const)(
  "postgres: step %d of an edit is sent once if its worker is killed (applied: %p); the job's state is correct",
  async (nth, applied) => {
    const id = await scene.queued("update_listing", listingArgs(scene.appId, FIELDS))
    await killAt(nth, applied)
    const status = await foundOut(id)
    const { name, description } = textsAt(scene.standIn.shelf)
    const appliedFields = [name === FIELDS.name, description === FIELDS.description]
    expect(appliedFields.filter(Boolean)).toHaveLength(nth + (applied ? 1 : 0))
    const expected = appliedFields.every(Boolean)
      ? ["done", 5]
      : appliedFields.some(Boolean)
        ? ["unknown", 5]
        : ["failed", 0]
    expect([status, await scene.used()]).toEqual(expected as [string, number])
    expect(scene.cutter.changes).toHaveLength(nth + 1)
  },
)
