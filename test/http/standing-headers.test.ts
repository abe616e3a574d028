import { expect, test } from "bun:test"
import { freshDatabase } from "../database.ts"
import { openService } from "../service.ts"

const ORIGIN = "http://127.0.0.1:8787"
const PATHS = ["/v1/sandbox/apps", "/v1/sandbox/alerts", "/docs", "/llms.txt"]

/** Returns a service with a clock that the test sets. */
async function serviceAt(at: { now: string }) {
  const service = openService({ sql: await freshDatabase(), now: () => new Date(at.now) })
  return async (path: string, headers: Record<string, string> = {}) =>
    await service.app.fetch(new Request(`${ORIGIN}${path}`, { headers }), "127.0.0.1")
}

test("each public answer has its own request id, even if the same address was answered before", async () => {
  const read = await serviceAt({ now: "2026-11-24T12:00:00Z" })
  const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => read(PATHS[i % PATHS.length] as string)))
  const ids = answers.map(({ headers }) => headers.get("x-request-id"))
  expect(new Set(ids).size).toBe(40)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/)
})

test("an answer has no request id, encoding or 304 from another call to the same address", async () => {
  const read = await serviceAt({ now: "2026-11-24T12:00:00Z" })
  for (const path of PATHS) {
    const first = await read(path)
    const etag = first.headers.get("etag") as string
    const named = await read(path, { "x-request-id": "mine" })
    const notModified = await read(path, { "if-none-match": etag })
    const encoded = await read(path, { "accept-encoding": "gzip" })
    const last = await read(path)
    expect([named.headers.get("x-request-id"), notModified.status, last.status]).toEqual(["mine", 304, 200])
    expect(last.headers.get("x-request-id")).not.toBe("mine")
    expect(last.headers.get("content-encoding")).toBeNull()
    expect(encoded.headers.get("x-request-id")).not.toBe(last.headers.get("x-request-id"))
    const lasting = ({ headers }: Response) => [...headers].filter(([name]) => name !== "x-request-id")
    expect(lasting(last)).toEqual(lasting(first))
  }
})

test("the reset time in the headers changes with the month, also for cached answers", async () => {
  const at = { now: "2026-11-30T23:59:59.999Z" }
  const read = await serviceAt(at)
  const resetOf = async (path: string) => (await read(path)).headers.get("x-credits-reset")
  for (const path of PATHS) expect(await resetOf(path)).toBe("2026-12-01T00:00:00.000Z")
  at.now = "2026-12-01T00:00:00.000Z"
  for (const path of PATHS) expect(await resetOf(path)).toBe("2027-01-01T00:00:00.000Z")
})

test("an address with a key is refused even if the address without the key was answered before", async () => {
  const read = await serviceAt({ now: "2026-11-24T12:00:00Z" })
  const key = `svc_live_${"a".repeat(32)}`
  for (let round = 0; round < 3; round++) {
    expect((await read("/v1/sandbox/apps")).status).toBe(200)
    expect(await (await read(`/v1/sandbox/apps?key=${key}`)).json()).toMatchObject({ error: "key_in_url" })
    expect(await (await read(`/v1/sandbox/${key}`)).json()).toMatchObject({ error: "key_in_url" })
  }
})
