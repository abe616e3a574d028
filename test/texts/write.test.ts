import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as v from "valibot"
import { keptAnswers } from "../../src/commands/process/writing.ts"
import type { Sql } from "../../src/database/types.ts"
import { createLog } from "../../src/lib/log.ts"
import { WIRE_NAMES, type WireName, type WritingTask } from "../../src/lib/writing/written-text.ts"
import { openRawBodies } from "../../src/measuring/raw-bodies.ts"
import { createWriting, type WritingParts } from "../../src/texts/port/write.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { openStandIn, receiptOf, type Script, type StandIn, well } from "./stand-in.ts"

setDefaultTimeout(60_000)

let sql: Sql
const logged: string[] = []
const log = createLog((line) => void logged.push(line), "debug")
const standIns = new Map<WireName, StandIn>()

beforeAll(async () => {
  sql = await freshDatabase()
  for (const api of WIRE_NAMES) standIns.set(api, openStandIn(api))
})
afterAll(async () => {
  for (const standIn of standIns.values()) await standIn.close()
})

let count = 0
const TASK: WritingTask<{ word: string }> = {
  kind: "word",
  digest: "",
  version: 3,
  orders: "Put the word of the record into word.",
  mostTokens: 100,
  records: [{ r: "r1", text: "tide" }],
  answer: v.strictObject({ word: v.string() }),
  judge: ({ word }: { word: string }, isLast) =>
    word === "tide" || isLast ? { value: { word }, dropped: [] } : { fixes: [`"${word}" is not the word`] },
}
const task = (rest: Partial<typeof TASK> = {}) => ({ ...TASK, digest: `d${++count}`, ...rest })

function writerOf(api: WireName, rest: Partial<Omit<WritingParts, "settings">> & { settings?: object } = {}) {
  const { settings, ...parts } = rest
  const standIn = standIns.get(api)!
  standIn.requests.splice(0)
  const usual = {
    url: standIn.url,
    api,
    model: "m-1",
    key: "sk-secret",
    contextTokens: 8_000,
    tokensADay: 1e9,
    atOnce: 2,
  }
  const writing = createWriting({
    sql,
    log,
    now: () => new Date(),
    randomBytes,
    fetch: (url: string, init: RequestInit) => fetch(url, init),
    pollMs: 20,
    patienceMs: 300,
    settings: { ...usual, ...settings },
    ...parts,
  })
  const run = (script: Script[], request = task(), waitMs = 10_000) => {
    standIn.script.splice(0, standIn.script.length, ...script)
    return writing.write(request, waitMs)
  }
  return { stop: writing.stop, find: writing.write.find, run, standIn }
}

const good = well(() => ({ word: "tide" }))
const wrong = well(() => ({ word: "wave" }))

describe.each([...WIRE_NAMES])("in the format %s", (api) => {
  test("a text is requested once, with its schema and no sampling parameter, then judged and stored", async () => {
    const { run, standIn } = writerOf(api)
    const request = task()
    const state = await run([good], request)
    expect(state).toMatchObject({ state: "done", value: { word: "tide" }, dropped: [], model: "m-1", version: 3 })
    expect(await run([good], request)).toEqual(state)
    expect(standIn.requests.length).toBe(1)
    const [{ body, headers, path, system, data }] = standIn.requests as [StandIn["requests"][0]]
    expect(path).toBe({ chat: "/v1/chat/completions", responses: "/v1/responses", messages: "/v1/messages" }[api])
    expect(headers.get(api === "messages" ? "x-api-key" : "authorization")).toInclude("sk-secret")
    expect(JSON.stringify(body)).not.toMatch(/temperature|top_p|top_k|sk-secret/)
    expect(system).toStartWith("Put the word of the record into word.")
    expect(data.split("\n")).toHaveLength(3)
    if (api === "responses") expect(body.store).toBe(false)
  })

  const UNUSABLE: [string, Script][] = [
    ["a refusal", { ...(good as object), end: "refused" } as Script],
    ["an answer that was cut off", { ...(good as object), end: "cut" } as Script],
    ["incomplete JSON", { say: (lines) => JSON.stringify({ receipt: receiptOf(lines), word: "tide" }).slice(0, -9) }],
    ["no JSON", { say: () => "The word is tide." }],
    ["nothing", { say: () => "" }],
    ["a property that the schema lacks", well(() => ({ word: "tide", count: 500 }))],
    ["no receipt", { say: () => JSON.stringify({ word: "tide" }) }],
    [
      "a wrong receipt",
      { say: () => JSON.stringify({ receipt: { first: "aaaaaa", last: "bbbbbb", records: 1 }, word: "tide" }) },
    ],
    ["a silently truncated prompt", { ...(good as object), inputTokens: 12 } as Script],
    ["an HTML page", { raw: "<html>hello</html>" }],
    ["an empty body", { raw: "" }],
    ["50 MB", { raw: `{"a":"${"x".repeat(5_000_000)}"}` }],
    ["status 400", { status: 400, body: '{"error":{"code":"bad_schema","message":"secret words"}}' }],
  ]
  test.each(UNUSABLE)("an unusable response (%s) fails the text, and no text is stored", async (_, script) => {
    const { run, find } = writerOf(api)
    const request = task()
    expect(await run([script], request)).toEqual({ state: "failed", why: "unusable" })
    expect(await find(request)).toEqual({ state: "failed", why: "unusable" })
    // the failure was returned once and then deleted
    expect(await find(request)).toBeNull()
    expect(await run([good], request)).toMatchObject({ state: "done" })
  })

  test("reasoning and a code fence that a local server adds to its answer are removed", async () => {
    const { run } = writerOf(api)
    const say: Script = {
      say: (lines) =>
        `<think>hm {}</think>\n\`\`\`json\n${JSON.stringify({ receipt: receiptOf(lines), word: "tide" })}\n\`\`\``,
    }
    expect(await run([say])).toMatchObject({ state: "done", value: { word: "tide" } })
  })

  test("a refused answer is requested once more with its problems, and the second answer is final", async () => {
    const { run, standIn } = writerOf(api)
    expect(await run([wrong, good])).toMatchObject({ state: "done", value: { word: "tide" } })
    expect(standIn.requests.length).toBe(2)
    expect(standIn.requests[1]!.data).toInclude('\\"wave\\" is not the word')
    const other = writerOf(api)
    expect(await other.run([wrong])).toMatchObject({ state: "done", value: { word: "wave" } })
    expect(other.standIn.requests.length).toBe(2)
  })
})

describe("failures of the provider", () => {
  const busy = (headers: Record<string, string>, status = 429): Script => ({ status, headers })
  const HTTP_DATE = () => new Date(Date.now() + 90_000).toUTCString()
  test.each<[string, () => Script, object, number]>([
    ["a wait in seconds that is too long", () => busy({ "retry-after": "60" }), { why: "busy", retryAfter: 60 }, 1],
    [
      "a wait in milliseconds that is too long",
      () => busy({ "retry-after-ms": "4500" }),
      { why: "busy", retryAfter: 5 },
      1,
    ],
    [
      "a wait until a date",
      () => busy({ "retry-after": HTTP_DATE() }),
      { why: "busy", retryAfter: expect.any(Number) },
      1,
    ],
    ["a wait of 4,000 seconds", () => busy({ "retry-after": "4000" }), { why: "busy", retryAfter: 3_600 }, 1],
    ["three short waits", () => busy({ "retry-after-ms": "5" }), { why: "busy", retryAfter: 1 }, 3],
    ["status 529", () => busy({ "retry-after-ms": "1" }, 529), { why: "busy", retryAfter: 1 }, 3],
    ["an exhausted quota", () => ({ status: 429, body: '{"error":{"code":"insufficient_quota"}}' }), { why: "off" }, 1],
    ["status 402", () => ({ status: 402 }), { why: "off" }, 1],
    ["status 401", () => ({ status: 401, body: '{"error":{"message":"sk-secret is wrong"}}' }), { why: "off" }, 1],
    ["an unknown model", () => ({ status: 404 }), { why: "off" }, 1],
    ["a redirect", () => ({ status: 302, headers: { location: "http://127.0.0.1:1/trap" } }), { why: "off" }, 1],
  ])(
    "if the provider answers with %s, the text fails with the documented state",
    async (_, script, state, requests) => {
      const { run, standIn } = writerOf("chat")
      expect(await run([script()])).toEqual({ state: "failed", ...state } as never)
      expect(standIn.requests.length).toBe(requests)
    },
  )

  test("a text is written if the provider fails twice with 500 and then succeeds", async () => {
    const { run } = writerOf("chat")
    const broken = busy({ "retry-after-ms": "1" }, 500)
    expect(await run([broken, broken, good])).toMatchObject({ state: "done" })
  })

  test("a provider that is unreachable or drops the connection is reported as busy", async () => {
    const unreachable = writerOf("chat", { settings: { url: "http://127.0.0.1:1/v1" }, patienceMs: 0 })
    expect(await unreachable.run([good])).toMatchObject({ state: "failed", why: "busy" })
    const body = () =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"choices":[{"mess'))
          controller.error(new Error("gone"))
        },
      })
    const disconnecting = writerOf("chat", { patienceMs: 0, fetch: async () => new Response(body()) })
    expect(await disconnecting.run([good])).toMatchObject({ state: "failed", why: "busy" })
  })
})

describe("callers", () => {
  test("200 callers of one text in two processes cause one request", async () => {
    const [first, second] = [writerOf("chat"), writerOf("chat")]
    const request = task()
    const slow = { ...(good as object), afterMs: 150 } as Script
    const states = await Promise.all(
      Array.from({ length: 200 }, (_, n) => (n % 2 ? first : second).run([slow], request)),
    )
    expect(new Set(states.map((state) => JSON.stringify(state))).size).toBe(1)
    expect(states[0]).toMatchObject({ state: "done" })
    expect(first.standIn.requests.length).toBe(1)
  })

  slow("a caller waits no longer than its time limit, and finds the text stored later", async () => {
    const { run, find, standIn } = writerOf("chat")
    const request = task()
    expect(await run([{ ...(good as object), afterMs: 200 } as Script], request, 20)).toEqual({ state: "pending" })
    expect(await find(request)).toEqual({ state: "pending" })
    await Bun.sleep(400)
    expect(await find(request)).toMatchObject({ state: "done", value: { word: "tide" } })
    expect(standIn.requests.length).toBe(1)
  })

  test("after a stop, texts in progress fail, and another process writes the texts", async () => {
    const { run, stop } = writerOf("chat")
    const request = task()
    const running = run([{ ...(good as object), afterMs: 5_000 } as Script], request)
    await Bun.sleep(100)
    await stop()
    expect(await running).toMatchObject({ state: "failed" })
    expect(await writerOf("chat").run([good], request)).toMatchObject({ state: "done" })
  })

  test("another process takes over the work of a dead process once the lease has expired, and not before", async () => {
    const request = task()
    await sql`
      insert into writer_text (kind, digest, lease, lease_until)
      values (${request.kind}, ${request.digest}, gen_random_uuid(), now() + interval '1 minute')`
    const { run, standIn } = writerOf("chat")
    expect(await run([good], request, 100)).toEqual({ state: "pending" })
    expect(standIn.requests.length).toBe(0)
    await sql`update writer_text set lease_until = now() where digest = ${request.digest}`
    expect(await run([good], request)).toMatchObject({ state: "done" })
  })
})

test("the number of simultaneous requests never exceeds the setting", async () => {
  let [now, most] = [0, 0]
  const fetching = async (url: string, init: RequestInit) => {
    most = Math.max(most, ++now)
    return await fetch(url, init).finally(() => now--)
  }
  const { run } = writerOf("chat", { fetch: fetching, settings: { atOnce: 2 } })
  const slow = { ...(good as object), afterMs: 30 } as Script
  await Promise.all(Array.from({ length: 9 }, () => run([slow])))
  expect(most).toBe(2)
})

test("no request is sent if the prompt is too long or the day's tokens are used up", async () => {
  const { run, standIn } = writerOf("chat", { settings: { tokensADay: 1 } })
  const state = await run([good])
  expect(state).toEqual({ state: "failed", why: "spent", retryAfter: expect.any(Number) })
  expect((state as { retryAfter: number }).retryAfter).toBeWithin(1, 86_401)
  const small = writerOf("chat", { settings: { contextTokens: 200 } })
  expect(await small.run([good])).toEqual({ state: "failed", why: "unusable" })
  expect([standIn.requests.length, small.standIn.requests.length]).toEqual([0, 0])
})

test("a small context shortens the answer's limit by up to half, and long source texts are cut", async () => {
  const { run, standIn } = writerOf("chat", { settings: { contextTokens: 1_000 } })
  expect(await run([good], task({ mostTokens: 900 }))).toMatchObject({ state: "done" })
  expect(standIn.requests[0]!.body.max_tokens).toBeWithin(450, 900)
  expect(await run([good], task({ mostTokens: 2_000 }))).toEqual({ state: "failed", why: "unusable" })
  const large = writerOf("chat", { settings: { contextTokens: 100_000 } })
  const records = [{ r: "r1", text: "x".repeat(5_000) }]
  await large.run([good], task({ records }))
  await large.run([good], task({ records, longest: 4_000 }))
  const sentTexts = large.standIn.requests.map(({ data }) => JSON.parse(data.split("\n")[1]!).text as string)
  expect(sentTexts.map((text) => [text.length, text.at(-1)])).toEqual([
    [1_001, "…"],
    [4_001, "…"],
  ])
})

test("a refused key alerts the operator once a day, and the next text ends the alert", async () => {
  await sql`delete from instance_alert`
  const alerts = async () => [
    ...(await sql`select kind, subject, ended_at is null as open from instance_alert order by id`),
  ]
  const { run, standIn } = writerOf("chat")
  const subject = new URL(standIn.url).host
  logged.splice(0)
  for (let n = 0; n < 3; n++) await run([{ status: 401 }])
  expect(await alerts()).toEqual([{ kind: "writer_denied", subject, open: true }])
  expect(logged.filter((line) => line.includes("writer_denied")).length).toBe(1)
  await run([good])
  await run([{ status: 401 }])
  expect(await alerts()).toEqual([{ kind: "writer_denied", subject, open: false }])
  await sql`update instance_alert set at = at - interval '25 hours'`
  await run([{ status: 402 }])
  expect((await alerts()).length).toBe(2)
})

describe("an answer that was judged", () => {
  const folder = mkdtempSync(join(tmpdir(), "answers-"))
  afterAll(() => rmSync(folder, { recursive: true }))
  const openAnswers = (days = 30) => keptAnswers(openRawBodies({ folder, days, megabytes: 10 }))
  const earlier = () => sql`update writer_text set checks = 1`

  test("a judged answer is stored by its hash, and newer checks judge it again without a request", async () => {
    const { run, standIn } = writerOf("chat", { answers: openAnswers() })
    const request = task()
    const first = await run([good], request)
    const [row] = await sql<{ answer: Uint8Array }[]>`select answer from writer_text where digest = ${request.digest}`
    const body = JSON.parse(new TextDecoder().decode((await openAnswers().read(row!.answer))!))
    expect(body.choices[0].message.content).toInclude("tide")
    await earlier()
    const better = { ...request, judge: () => ({ value: { word: "TIDE" }, dropped: [] }) }
    const rejudged = await run([wrong], better)
    expect(rejudged).toEqual({ ...first, value: { word: "TIDE" } } as never)
    // only once: the same version of the checks does not judge it again
    expect(await run([wrong], request)).toEqual(rejudged)
    expect(standIn.requests.length).toBe(1)
  })

  test("an answer that newer checks refuse is requested again, unless only its text is stored", async () => {
    const { run, standIn } = writerOf("chat", { answers: openAnswers() })
    const request = task()
    await run([good], request)
    await earlier()
    const strict = {
      ...request,
      judge: ({ word }: { word: string }) => (word === "wave" ? { value: { word }, dropped: [] } : { fixes: ["no"] }),
    }
    expect(await run([wrong], strict as never)).toMatchObject({ state: "done", value: { word: "wave" } })
    expect(standIn.requests.length).toBe(2)
    const none = writerOf("chat", { answers: openAnswers(0) })
    const other = task()
    await none.run([well(() => ({ word: "tide" }))], { ...other, records: [{ r: "r1", text: "none kept" }] })
    await earlier()
    await sql`update writer_text set answer = sha256('gone') where digest = ${other.digest}`
    expect(await none.run([wrong], other)).toMatchObject({ value: { word: "tide" } })
  })
})

test("without an AI provider, stored texts are returned and no new text is written", async () => {
  const request = task()
  await writerOf("chat").run([good], request)
  let requests = 0
  const counting = async () => {
    requests++
    return new Response()
  }
  const none = createWriting({ sql, log, settings: null, now: () => new Date(), randomBytes, fetch: counting })
  expect(none.write.isOn).toBeFalse()
  expect(await none.write(request, 1_000)).toMatchObject({ state: "done" })
  expect(await none.write(task(), 1_000)).toEqual({ state: "failed", why: "off" })
  expect(await none.write.inSteps(async (write) => await write(task(), 1_000), 1_000)).toMatchObject({ why: "off" })
  expect(requests).toBe(0)
})

test("no log line contains a key, a header or words of the provider", () => {
  expect(logged.length).toBeGreaterThan(5)
  expect(logged.join("\n")).not.toMatch(/sk-secret|secret words|is wrong|authorization/i)
})
