import { expect, test } from "bun:test"
import type { OutsideWrite, ProofFinding } from "../../src/jobs/outside.ts"
import { Fault } from "../../src/lib/faults.ts"
import { bidJob, enqueued, jobRow } from "./enqueued.ts"
import { bidding } from "./platform.ts"
import { prepareScene } from "./scene.ts"

// Writes whose answer never came: the outcome is found by reading, never by sending again.

const scene = prepareScene()

/** Returns set_bid with steps and a proof that reads the bid at the platform. */
function proving(): Map<string, OutsideWrite> {
  const plain = bidding(scene.platform.url).get("set_bid") as OutsideWrite
  const look = async (args: Record<string, unknown>, port: Parameters<NonNullable<OutsideWrite["read"]>>[1]) => {
    const { bid } = (await plain.read!(args, port)) as { bid: number }
    const verdict = bid === args.bid ? "applied" : bid === 1 ? "absent" : "unclear"
    return { verdict, text: `The bid is ${bid}.`, result: { bid } } as ProofFinding
  }
  const step = { what: "set bid", entity: "Keyword", id: "x", change: { bid: { from: 1, to: 2 } } }
  const send: OutsideWrite["send"] = (args, port, before) => port.step(step, () => plain.send(args, port, before))
  const proof = { look, absentAt: [10, 60], absence: () => new Fault("asc_unavailable") }
  return new Map([["set_bid", { read: plain.read!, send, proof }]])
}

const work = () => scene.worker({ kinds: proving() }).runOnce()

/** Runs a job whose response never comes, and which leaves this bid at the platform. Returns the job's id. */
async function unknown(bid: number): Promise<string> {
  const job = bidJob(scene.by)
  scene.platform.on("PUT", (target) => {
    scene.platform.bids.set(target, bid)
    return new Response(null, { status: 500 })
  })
  const id = await enqueued(scene.sql, job)
  await work()
  expect((await jobRow(scene.sql, id)).status).toBe("unknown")
  return id
}

/** Makes the job look as if it was sent that many minutes ago. */
async function after(id: string, minutes: number): Promise<string> {
  await scene.sql`
    update job
    set proof_at = now() - interval '1 s', sent_at = now() - ${minutes} * interval '1 minute'
    where id = ${id} and proof_at is not null`
  await work()
  return (await jobRow(scene.sql, id)).status
}

interface HeldJob {
  target: string
  proofs: ProofFinding[]
}

const storedJob = async (id: string) =>
  (await scene.sql<HeldJob[]>`select target, proofs from job where id = ${id}`)[0]!
const steps = (id: string) => scene.sql`select n, what, outcome, change from job_step where job_id = ${id} order by n`
const planned = async (id: string) => {
  const [row] = await scene.sql<{ minutes: number | null }[]>`
    select round(extract(epoch from proof_at - sent_at) / 60)::int as minutes from job where id = ${id}`
  return row!.minutes
}

test("each request of a job is stored as a step before it is sent, and its outcome is stored afterwards", async () => {
  const id = await enqueued(scene.sql, bidJob(scene.by))
  await work()
  const change = { entity: "Keyword", id: "x", change: { bid: { from: 1, to: 2 } } }
  expect([...(await steps(id))]).toEqual([{ n: 1, what: "set bid", outcome: "done", change }])
  scene.platform.on("PUT", () => new Response(null, { status: 422 }))
  const refused = await enqueued(scene.sql, bidJob(scene.by))
  await work()
  expect(await steps(refused)).toMatchObject([{ outcome: "refused" }])
  scene.platform.on("PUT", async (target) => {
    const [step] = await scene.sql`
        select outcome, answered_at from job_step
        where job_id = (select id from job where args ->> 'target' = ${target})`
    expect(step).toEqual({ outcome: null, answered_at: null })
    return new Response(null, { status: 500 })
  })
  const unsure = await enqueued(scene.sql, bidJob(scene.by))
  await work()
  expect(await steps(unsure)).toMatchObject([{ outcome: "unsure" }])
})

test("an unknown write is done once a check finds the intended value in the target", async () => {
  const id = await unknown(2)
  expect(await after(id, 1)).toBe("done")
  expect(await jobRow(scene.sql, id)).toMatchObject({ result: { bid: 2 }, error: null })
  expect(await planned(id)).toBe(null)
  expect(scene.platform.writes()).toHaveLength(1)
})

test("an unknown write fails if its target is unchanged at each of the required checks", async () => {
  const id = await unknown(1)
  expect([await after(id, 1), await planned(id)]).toEqual(["unknown", 10])
  expect([await after(id, 10), await planned(id)]).toEqual(["unknown", 60])
  expect(await after(id, 60)).toBe("failed")
  expect(await jobRow(scene.sql, id)).toMatchObject({ error: { error: "asc_unavailable" }, result: null })
  expect(scene.platform.writes()).toHaveLength(1)
})

test("a job stays unknown if its target has an unexpected value at every check", async () => {
  const id = await unknown(7)
  for (const minutes of [1, 10, 60, 1_440]) expect(await after(id, minutes)).toBe("unknown")
  expect(await planned(id)).toBe(null)
  const { proofs } = await storedJob(id)
  expect(proofs.map(({ verdict, text }) => [verdict, text])).toEqual(Array(4).fill(["unclear", "The bid is 7."]))
  expect(scene.platform.writes()).toHaveLength(1)
})

test("a check that gets no answer is repeated, until four days after the write", async () => {
  const id = await unknown(2)
  scene.platform.on("GET", () => new Response(null, { status: 503 }))
  expect(await after(id, 1)).toBe("unknown")
  expect(await planned(id)).toBeGreaterThan(1)
  expect(await scene.sql`select 1 from job where id = ${id} and proofs = '[]'`).toHaveLength(1)
  scene.platform.on("GET")
  expect(await after(id, 9)).toBe("done")
  const missingId = await unknown(2)
  scene.platform.on("GET", () => new Response(null, { status: 503 }))
  expect(await after(missingId, 4 * 1_440)).toBe("unknown")
  expect(await planned(missingId)).toBe(null)
})

test("a later write to the same target ends the checks of the earlier write", async () => {
  const id = await unknown(1)
  const { target } = await storedJob(id)
  scene.platform.on("PUT")
  await enqueued(scene.sql, bidJob(scene.by, { target, args: { target, bid: 2 } }))
  await work()
  expect([await after(id, 10), await planned(id)]).toEqual(["unknown", null])
})

test("if several processes check a job concurrently, only one finding is stored", async () => {
  const id = await unknown(2)
  await scene.sql`update job set proof_at = now() - interval '1 s' where id = ${id}`
  await Promise.all([work(), work(), work()])
  const { proofs } = await storedJob(id)
  expect(proofs).toHaveLength(1)
})
