import { beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { cases, LONG } from "../../long.ts"
import type { Cut } from "../cutter.ts"
import { listingArgs } from "./listing-args.ts"
import { stockShelf, textsAt } from "./listing-scene.ts"
import { consoleScene, REVIEW } from "./scene.ts"

// Cuts the connection at every place that makes a difference. In each case no step is sent twice, the job's state
// matches the console, and credits are returned exactly if nothing was applied.

setDefaultTimeout(60_000)

const on = consoleScene()
beforeEach(() => stockShelf(on.there.shelf))

const REPLY = "We are looking into it."
const FIELDS = { name: "Tea Timer Pro", description: "Counts minutes and cups." }

/** Around each boundary of the request and of the response: start line, headers, body. */
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

async function settled(id: string): Promise<string> {
  for (const minutes of [1, 10, 60, 1_440]) await on.after(id, minutes)
  return (await on.job(id)).status
}

test.each(CUTS.filter((_, at) => at % cases(2, 1) === 0))(
  "a reply cut %j is sent once, and the job ends in the console's state",
  async (cut) => {
    const id = await on.queued("reply_review", { appId: on.appId, country: "us", reviewId: REVIEW.id, response: REPLY })
    on.cutter.cut(cut)
    await on.worker.runOnce()
    await on.worker.runOnce()
    expect((await on.job(id)).status).toBe("unknown")
    const status = await settled(id)
    const stands = on.there.shelf.reviews[0]!.reply?.attributes.responseBody === REPLY
    expect([status, await on.used()]).toEqual(stands ? ["done", 2] : ["failed", 0])
    expect(on.cutter.changes).toHaveLength(1)
  },
)

test.each(CUTS.flatMap((cut, at) => [0, 1].filter((nth) => LONG || nth === at % 2).map((nth) => [nth, cut] as const)))(
  "step %d of an edit cut %j is sent at most once, and the job reports it correctly",
  async (nth, cut) => {
    const id = await on.queued("update_listing", listingArgs(on.appId, FIELDS))
    on.cutter.cut(cut, nth)
    await on.worker.runOnce()
    await on.worker.runOnce()
    expect((await on.job(id)).status).toBe("unknown")
    expect(on.cutter.changes).toHaveLength(nth + 1)
    const status = await settled(id)
    const { name, description } = textsAt(on.there.shelf)
    const standing = [name === FIELDS.name, description === FIELDS.description]
    const expected = standing.every(Boolean) ? ["done", 5] : standing.some(Boolean) ? ["unknown", 5] : ["failed", 0]
    expect([status, await on.used()]).toEqual(expected as [string, number])
    expect(on.cutter.changes).toHaveLength(nth + 1)
  },
)

test("a job fails immediately and returns its credits if the console cannot be reached", async () => {
  const id = await on.queued("reply_review", { appId: on.appId, country: "us", reviewId: REVIEW.id, response: REPLY })
  on.there.before = (path) => {
    if (path.includes("include=response")) on.cutter.close()
    return null
  }
  await on.worker.runOnce()
  const job = await on.job(id)
  expect([job.status, job.error.error, job.steps]).toMatchObject([
    "failed",
    "asc_unavailable",
    [{ outcome: "refused" }],
  ])
  expect([on.sent(), await on.used()]).toEqual([[], 0])
})
