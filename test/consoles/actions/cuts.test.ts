import { beforeEach, expect, setDefaultTimeout } from "bun:test"
import { cases, LONG, slow } from "../../long.ts"
import type { Cut } from "../cutter.ts"
import { listingArgs } from "./listing-args.ts"
import { stockShelf, textsAt } from "./listing-scene.ts"
import { consoleScene, REVIEW } from "./scene.ts"

// Cuts the connection at every place that makes a difference. In each case no step is sent twice, the job's state
// matches the console, and credits are returned if and only if nothing was applied.

setDefaultTimeout(60_000)

const scene = consoleScene()
beforeEach(() => stockShelf(scene.standIn.shelf))

const REPLY = "We are looking into it."
const FIELDS = { name: "Tea Timer Pro", description: "Counts minutes and cups." }

/** Cuts around each boundary of the request and of the response: start line, headers, body. */
const CUTS: Cut[] = [
  { at: "accept" },
  { at: "request", bytes: 1 },
  { at: "request", bytes: 40 },
  { at: "request", bytes: 600 },
  { at: "applied" },
  { at: "answer", bytes: 1 },
  { at: "answer", bytes: 12 },
  { at: "answer", bytes: 90 },
  { at: "answer", bytes: 250 },
]

async function settle(id: string): Promise<string> {
  for (const minutes of [1, 10, 60, 1_440]) await scene.after(id, minutes)
  return (await scene.job(id)).status
}

slow.each(CUTS.filter((_, at) => at % cases(2, 1) === 0))(
  "a reply is sent once if the connection breaks (%j), and the job's final state matches the console",
  async (cut) => {
    const id = await scene.queued("reply_review", {
      appId: scene.appId,
      country: "us",
      reviewId: REVIEW.id,
      response: REPLY,
    })
    scene.cutter.cut(cut)
    await scene.worker.runOnce()
    await scene.worker.runOnce()
    expect((await scene.job(id)).status).toBe("unknown")
    const status = await settle(id)
    const isApplied = scene.standIn.shelf.reviews[0]!.reply?.attributes.responseBody === REPLY
    expect([status, await scene.used()]).toEqual(isApplied ? ["done", 2] : ["failed", 0])
    expect(scene.cutter.changes).toHaveLength(1)
  },
)

slow.each(CUTS.flatMap((cut, at) => [0, 1].filter((nth) => LONG || nth === at % 2).map((nth) => [nth, cut] as const)))(
  "step %d of an edit is sent once if the connection breaks (%j), and the job's state matches the applied fields",
  async (nth, cut) => {
    const id = await scene.queued("update_listing", listingArgs(scene.appId, FIELDS))
    scene.cutter.cut(cut, nth)
    await scene.worker.runOnce()
    await scene.worker.runOnce()
    expect((await scene.job(id)).status).toBe("unknown")
    expect(scene.cutter.changes).toHaveLength(nth + 1)
    const status = await settle(id)
    const { name, description } = textsAt(scene.standIn.shelf)
    const appliedFields = [name === FIELDS.name, description === FIELDS.description]
    const expected = appliedFields.every(Boolean)
      ? ["done", 5]
      : appliedFields.some(Boolean)
        ? ["unknown", 5]
        : ["failed", 0]
    expect([status, await scene.used()]).toEqual(expected as [string, number])
    expect(scene.cutter.changes).toHaveLength(nth + 1)
  },
)

slow("a job fails immediately and returns its credits if the console cannot be reached", async () => {
  const id = await scene.queued("reply_review", {
    appId: scene.appId,
    country: "us",
    reviewId: REVIEW.id,
    response: REPLY,
  })
  scene.standIn.before = (path) => {
    if (path.includes("include=response")) scene.cutter.close()
    return null
  }
  await scene.worker.runOnce()
  const job = await scene.job(id)
  expect([job.status, job.error.error, job.steps]).toMatchObject([
    "failed",
    "asc_unavailable",
    [{ outcome: "refused" }],
  ])
  expect([scene.sent(), await scene.used()]).toEqual([[], 0])
})
