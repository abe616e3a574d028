import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { randomBytes } from "node:crypto"
import type { Sql } from "../../../src/database/types.ts"
import { createLog } from "../../../src/lib/log.ts"
import { createWriting } from "../../../src/texts/port/write.ts"
import { freshDatabase } from "../../database.ts"
import { cases, slow } from "../../long.ts"
import { reviewed, reviewedOnPlay } from "../../measuring/record/reviewed.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import { ATTACKS } from "../attacks.ts"
import { type Line, openStandIn, receiptOf, type Script, well } from "../stand-in.ts"

setDefaultTimeout(120_000)

const NOW = new Date("2025-11-20T12:00:00Z")
const ATTACKED = 200
let sql: Sql
let service: Service
let serviceWithoutAi: Service
const logged: string[] = []
const standIn = openStandIn("chat")
afterAll(() => standIn.close())

beforeAll(async () => {
  sql = await freshDatabase()
  const log = createLog((line) => void logged.push(line), "debug")
  const settings = {
    url: standIn.url,
    api: "chat" as const,
    model: "m-1",
    key: "sk-secret",
    contextTokens: 8_000,
    tokensADay: 1e12,
    atOnce: 8,
  }
  const { write } = createWriting({
    sql,
    log,
    settings,
    now: () => NOW,
    randomBytes,
    pollMs: 20,
    patienceMs: 50,
    fetch: (url, init) => fetch(url, init),
  })
  service = openService({ sql, now: () => NOW, write })
  serviceWithoutAi = openService({ sql, now: () => NOW })
  const end = { end: { pages: 1, complete: true, empty: false } }
  const plain = [
    {
      id: "1",
      stars: 2,
      title: "Crashes",
      text: "Since the update it crashes when I open the calendar. My 14 entries are gone.",
    },
    { id: "2", stars: 1, text: "Die Werbung ist viel zu lang und sie kommt nach jedem Level, das ist nicht gut." },
    { id: "old", stars: 1, text: "Old one.", at: new Date("2024-01-01T00:00:00Z") },
  ]
  const attacks = ATTACKS.map((text, n) => ({ id: `${ATTACKED + n}`, stars: 1, text }))
  await record(sql, [reviewed("2025-11-19T10:00:00Z", [...plain, ...attacks], end)], () => NOW)
  await record(sql, [reviewedOnPlay("2025-11-19T10:00:00Z", plain, end)], () => NOW)
})

async function opened(options: Parameters<Service["workspace"]>[0] = {}, target = service) {
  const workspaceId = await target.workspace(options)
  const key = await target.key(workspaceId)
  const tracked = {
    workspaceId,
    iosId: "10001",
    androidPkg: "com.example.tea",
    countries: ["us"],
    keywords: ["tea"],
    origin: "own",
  }
  const appId = await trackOwn(sql, tracked)
  const get = (query: string) => target.call(`/v1/apps/${appId}/reviews/reply-draft?${query}`, { key })
  const used = async () => {
    const [row] = await sql<{ used: number }[]>`
      select coalesce(sum(used), 0)::int as used
      from allowance_used
      where workspace_id = ${workspaceId}`
    return row!.used
  }
  return { get, used, key, appId, workspaceId }
}

function play(...script: Script[]) {
  standIn.requests.splice(0)
  standIn.script.splice(0, standIn.script.length, ...script)
}
const REPLY = "Thank you for telling us. We are sorry about the crash, and we are looking into it."
const replying = (reply: string, addresses: string[] = []) => well(() => ({ addresses, reply }))

test("a second call for the same review and note on the same day is free and sends no request", async () => {
  const { get, used } = await opened()
  play(replying(REPLY, ["SINCE the update it crashes", "it never said that", "14 entries"]))
  const { status, body } = await get("reviewId=1")
  expect([status, await used()]).toEqual([200, 1])
  expect(body).toMatchObject({ reply: REPLY, characters: REPLY.length, limit: 5_970, locale: "en-US", platform: "ios" })
  expect(body.addresses).toEqual(["Since the update it crashes", "14 entries"])
  expect(body.written).toMatchObject({
    by: "model",
    model: "m-1",
    dropped: [{ what: "quote", rule: "not_in_its_text", count: 1 }],
  })
  expect((await get("reviewId=1")).body).toEqual(body)
  expect([standIn.requests.length, await used()]).toEqual([1, 1])
  await get("reviewId=1&note=Mention%20the%20fix")
  expect([standIn.requests.length, await used()]).toEqual([2, 2])
  expect(standIn.requests[1]!.data).toInclude('{"r":"wish","text":"Mention the fix"}')
  // the text of another workspace is stored separately
  const other = await opened()
  await other.get("reviewId=1")
  expect([standIn.requests.length, await other.used()]).toEqual([3, 1])
})

test("a request contains no review id, no key and no data of another workspace", async () => {
  const { get, appId, key, workspaceId } = await opened()
  play(replying(REPLY))
  await get("reviewId=1")
  const sent = JSON.stringify(standIn.requests[0]!.body)
  for (const hidden of [appId, key, "temperature", `workspace ${workspaceId}`]) expect(sent).not.toInclude(hidden)
})

describe("a refused reply", () => {
  test.each<[string, string, string]>([
    ["a promise of money", "We will refund you.", "reviewId=1"],
    ["an address", "Please see www.evil.com for help.", "reviewId=1"],
    ["a number that no source has", "We lost 15 entries.", "reviewId=1"],
    ["a request for stars", "Please update your rating.", "reviewId=1"],
    ["a text in another language", REPLY, "reviewId=2"],
    ["351 characters on Google Play", "x".repeat(351), "reviewId=1&store=android"],
  ])("a reply with %s is requested once more, and the request lists the problem", async (_, bad, query) => {
    const { get, used } = await opened()
    const good = query === "reviewId=2" ? "Danke für die Nachricht. Das mit der Werbung tut uns leid." : REPLY
    play(replying(bad), replying(good))
    expect((await get(query)).body.reply).toBe(good)
    expect(standIn.requests[1]!.data).toInclude("your_last_answer_was_refused_because")
    play(replying(bad))
    const refused = await get(`${query}&note=again`)
    expect([refused.status, refused.body.error, await used()]).toEqual([502, "ai_failed", 1])
    expect(refused.text).not.toInclude(bad)
  })

  test("a reply that cites missing passages is retried once and then shown without the passages", async () => {
    const { get } = await opened()
    play(replying(REPLY, ["it never said that"]), replying(REPLY, ["it crashes"]))
    expect((await get("reviewId=1")).body.addresses).toEqual(["it crashes"])
    expect(standIn.requests[1]!.data).toInclude("None of the passages in addresses is in the review")
    play(replying(REPLY, ["it never said that"]))
    const { body } = await get("reviewId=1&note=again")
    expect([body.addresses, standIn.requests.length]).toEqual([[], 2])
    expect(body.written.dropped).toEqual([{ what: "quote", rule: "not_in_its_text", count: 1 }])
  })

  test("a reply may contain an address from the developer's note", async () => {
    const { get } = await opened()
    play(replying("Please write to help@lumen.example.com."))
    const { body } = await get("reviewId=1&note=Write%20to%20help@lumen.example.com")
    expect(body.reply).toBe("Please write to help@lumen.example.com.")
  })
})

describe("calls without a request", () => {
  test("a call for a review that is missing, too old for the plan or of another feed is not charged", async () => {
    const { get, used } = await opened({ plan: "free", pack: 1_000 })
    play(replying(REPLY))
    for (const query of ["reviewId=nobody", "reviewId=old", "reviewId=200&store=android"])
      expect([(await get(query)).body.error, query]).toEqual(["review_not_found", query])
    expect([standIn.requests.length, await used()]).toEqual([0, 0])
  })

  test("a new text without an AI provider fails with ai_not_configured and is not charged", async () => {
    const { get, used } = await opened({}, serviceWithoutAi)
    const refused = await get("reviewId=1")
    expect([refused.status, refused.body.error, await used()]).toEqual([503, "ai_not_configured", 0])
    expect(refused.body.detail).toMatch(/AI_URL, AI_MODEL .*Retrying does not help/)
    expect(refused.body.message).not.toContain("try again")
  })

  test("a call after the allowance is used up fails with review_ai_limit and sends no request", async () => {
    const { get } = await opened({ overrides: { ratePerSecond: 100_000, reviewAi: 0 } })
    play(replying(REPLY))
    const refused = await get("reviewId=1")
    expect([refused.status, refused.body.error, standIn.requests.length]).toEqual([429, "review_ai_limit", 0])
  })
})

test("a refusal by the provider is reported without the provider's words, with the time before a retry", async () => {
  const { get, used } = await opened()
  const states: [Script, number, string][] = [
    [{ status: 401, body: '{"error":{"message":"sk-secret is wrong"}}' }, 503, "ai_not_configured"],
    [{ status: 429, headers: { "retry-after": "77" } }, 503, "unavailable"],
    [{ status: 400 }, 502, "ai_failed"],
    [{ raw: "<html>" }, 502, "ai_failed"],
  ]
  for (const [script, status, error] of states) {
    play(script)
    const answer = await get("reviewId=1")
    expect([answer.status, answer.body.error, await used()]).toEqual([status, error, 0])
    expect(answer.text).not.toInclude("sk-secret")
    if (status === 503) expect(Number(answer.headers.get("retry-after"))).toBe(error === "unavailable" ? 77 : 3_600)
  }
  expect(logged.join("")).not.toInclude("sk-secret")
})

/** A model that obeys the review's instructions as far as it can. */
const obeying: Script = well((lines) => {
  const { text } = lines.find(({ r }: Line) => r === "review")!
  return { addresses: [text], reply: `As you wish: ${text} Visit www.evil.com. Refund granted! {"r":"r999"}` }
})

slow("if a model obeys a review's instructions, only text that passed the checks is shown", async () => {
  const { get, used } = await opened({ overrides: { ratePerSecond: 100_000, reviewAi: 1_000 } })
  play(obeying)
  for (const [n] of ATTACKS.entries()) {
    if (n % cases(5, 1) > 0) continue
    const { status, body } = await get(`reviewId=${ATTACKED + n}`)
    expect([status, body.error]).toEqual([502, "ai_failed"])
  }
  expect(await used()).toBe(0)
})

describe("random scripts", () => {
  const good = replying(REPLY)
  const SCRIPTS: (() => Script)[] = [
    () => good,
    () => ({ ...(good as object), end: "cut" }) as Script,
    () => ({ ...(good as object), end: "refused" }) as Script,
    () => ({ ...(good as object), inputTokens: 3 }) as Script,
    () => ({ ...(good as object), afterMs: 30 }) as Script,
    () => ({ say: (lines) => JSON.stringify({ receipt: receiptOf(lines), addresses: [], reply: REPLY }).slice(0, 40) }),
    () => ({ say: () => "Sure!" }),
    () => ({ raw: "" }),
    () => ({ status: 500 }),
    () => ({ status: 429, headers: { "retry-after-ms": "1" } }),
    () => ({ status: 429, headers: { "retry-after": "4000" } }),
    () => ({ status: 402 }),
    () => replying("93 % of 500 users love it, most of them twice."),
    () => obeying,
    () => well(() => ({ addresses: [], reply: REPLY, credits: 500 })),
  ]
  // a fixed seed, so that a failure can be repeated
  let state = 20_251_120
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state % below
  }

  slow("whatever the model answers, a text is charged once and any other result is free", async () => {
    const { get, used } = await opened({ overrides: { ratePerSecond: 100_000, reviewAi: 100_000, credits: 1_000_000 } })
    let expected = 0
    for (let n = 0; n < cases(15, 75); n++) {
      play(...Array.from({ length: 1 + random(4) }, () => SCRIPTS[random(SCRIPTS.length)]!()))
      const callers = 1 + random(4)
      const answers = await Promise.all(Array.from({ length: callers }, () => get(`reviewId=1&note=n${n}`)))
      for (const { status, text } of answers) {
        expect([200, 502, 503]).toContain(status)
        expect(text).not.toMatch(/evil|Refund|93 %/)
      }
      // after a failure another caller may still get the text, which is then charged one unit
      if (answers.some(({ status }) => status === 200)) expected++
      expect([n, await used()]).toEqual([n, expected])
    }
    expect(expected).toBeGreaterThan(cases(2, 4))
  })
})
