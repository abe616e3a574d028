import { afterAll, describe, expect, test } from "bun:test"
import { hash } from "node:crypto"
import { gzipSync } from "node:zlib"
import { appleHints } from "../../src/keywords/sources/apple-hints.ts"
import { appleStoreSearch } from "../../src/keywords/sources/apple-store-search.ts"
import { createBodyLimit } from "../../src/measuring/parsing/body-limit.ts"
import { parseBody, ReadFailure, readOnce, type SourceAccess } from "../../src/measuring/source.ts"
import { slow } from "../long.ts"
import { fixture } from "../stores/parsing/parsed.ts"
import { type Answering, reachOf, replayServer } from "../stores/parsing/replay.ts"

const server = replayServer()
afterAll(() => server.stop())

const SUBJECT = { storefront: "us", term: "sleep sounds" }
const BODY = fixture("apple-store-search-us.json")
const HERE = server.address("search.itunes.apple.com")

async function read(answer: Answering, rest: Partial<SourceAccess> = {}) {
  server.on("search.itunes.apple.com", "/", answer)
  return await readOnce(appleStoreSearch, SUBJECT, reachOf(server, rest))
}

async function failureOf(answer: Answering, rest: Partial<SourceAccess> = {}): Promise<ReadFailure> {
  const failure = await read(answer, rest).catch((error) => error)
  expect(failure).toBeInstanceOf(ReadFailure)
  return failure
}

const respond = (status: number, headers: Record<string, string> = {}, body = "no") => {
  return () => new Response(body, { status, headers })
}

describe("an answer", () => {
  test("a response has its exact bytes, their hash, its URL and its time", async () => {
    const at = new Date("2026-03-01T08:00:00Z")
    const { seen: reading, body } = await read(respond(200, {}, BODY), { now: () => at, egress: "de" })
    expect(reading).toMatchObject({ kind: "search", term: "sleep sounds", seenAt: at, egress: "de", depth: 200 })
    expect(Buffer.from(body.bytes).toString()).toBe(BODY)
    expect(Buffer.from(body.sha256)).toEqual(hash("sha256", BODY, "buffer"))
    expect(reading.sha256).toEqual(body.sha256)
    expect(body.url).toStartWith(`${HERE}/WebObjects/MZStore.woa/wa/search?`)
    expect(body.seenAt).toBe(at)
  })

  test("a response that is not valid UTF-8 keeps the hash of its bytes", async () => {
    const bytes = Buffer.concat([Buffer.from(BODY), Buffer.from([0xff, 0xfe])])
    const failure = await failureOf(() => new Response(bytes))
    expect(failure.outcome).toBe("changed")
    expect(Buffer.from(failure.body?.sha256 as Uint8Array)).toEqual(hash("sha256", bytes, "buffer"))
  })

  test("a response has no egress if the country is unknown", async () => {
    expect((await read(respond(200, {}, BODY))).seen).not.toHaveProperty("egress")
  })

  test("a request has our user agent unless the source sets another", async () => {
    const insecure = { ...appleStoreSearch, request: () => ({ path: "/plain" }) }
    server.on("search.itunes.apple.com", "/plain", () => new Response(BODY))
    await readOnce(insecure, SUBJECT, reachOf(server))
    const { headers } = server.requests.at(-1)!
    expect([headers.get("user-agent"), headers.get("cookie"), headers.get("authorization")]).toEqual([
      "appmeter",
      null,
      null,
    ])
  })

  test("a failed request is not repeated", async () => {
    const before = server.requests.length
    await failureOf(respond(500))
    expect(server.requests.length).toBe(before + 1)
  })
})

describe("a status", () => {
  const OUTCOMES: [number, string][] = [
    [201, "changed"],
    [400, "changed"],
    [401, "blocked"],
    [403, "blocked"],
    [404, "not_found"],
    [410, "not_found"],
    [418, "changed"],
    [429, "rate_limited"],
    [500, "failed"],
    [502, "failed"],
    [503, "rate_limited"],
  ]
  for (const [status, outcome] of OUTCOMES) {
    test(`status ${status} is ${outcome}, with the body attached and not quoted in the message`, async () => {
      // a body that would parse: only the status refuses it
      const failure = await failureOf(respond(status, {}, BODY))
      expect(failure.outcome).toBe(outcome as never)
      expect(failure.body?.text).toBe(BODY)
      expect(failure.message).toBe(`status ${status}`)
      expect(failure.retryAfterMs).toBeUndefined()
    })
  }

  test("Retry-After is read from seconds or a date, and is never below zero", async () => {
    const now = () => new Date("2026-03-01T08:00:00Z")
    const after = async (value: string) => {
      return (await failureOf(respond(429, { "retry-after": value }), { now })).retryAfterMs
    }
    expect(await after("120")).toBe(120_000)
    expect(await after("0")).toBe(0)
    expect(await after("Sun, 01 Mar 2026 08:01:30 GMT")).toBe(90_000)
    expect(await after("Sun, 01 Mar 2026 07:00:00 GMT")).toBe(0)
    expect(await after("soon")).toBeUndefined()
    expect((await failureOf(respond(503, { "retry-after": "7" }))).retryAfterMs).toBe(7_000)
  })
})

describe("a coding", () => {
  test("a nested or unknown content coding is refused", async () => {
    for (const coding of ["gzip, gzip", "br,gzip", "compress"]) {
      const failure = await failureOf(respond(200, { "content-encoding": coding }, BODY))
      expect([failure.outcome, failure.message]).toEqual(["changed", "its content coding is not supported"])
    }
  })

  test("a compressed endless body ends the connection at the size limit", async () => {
    let sent = 0
    let isEnded = false
    const piece = gzipSync(Buffer.alloc(1_000_000))
    const endless = new ReadableStream<Uint8Array>({
      async pull(controller) {
        sent += piece.length
        await Bun.sleep(1)
        controller.enqueue(piece)
      },
      cancel() {
        isEnded = true
      },
    })
    const failure = await failureOf(() => new Response(endless, { headers: { "content-encoding": "gzip" } }))
    expect(failure.message).toBe("more than 4000000 bytes")
    for (let waited = 0; !isEnded && waited < 100; waited++) await Bun.sleep(20)
    expect(isEnded).toBe(true)
    expect(sent).toBeLessThan(4_000_000)
  })
})

describe("a large body", () => {
  test("an XML body above 500 KB is refused, because parsing takes up to a hundred times its size", async () => {
    server.on("search.itunes.apple.com", "/", () => new Response(" ".repeat(600_000)))
    const subject = { storefront: "us", prefix: "sleep" }
    const failure = await readOnce(appleHints, subject, reachOf(server)).catch((error) => error)
    expect([failure.outcome, failure.message]).toEqual(["changed", "more than 500000 bytes"])
  })

  slow("a large body waits until another large body is released, or until its reading times out", async () => {
    const limit = createBodyLimit(1)
    const large = BODY + " ".repeat(3_000_000)
    const [first, second, small] = [limit.guest(), limit.guest(), limit.guest()]
    expect((await read(respond(200, {}, large), { largeBodies: first })).seen.kind).toBe("search")
    const failure = await failureOf(respond(200, {}, large), { largeBodies: second, timeoutMs: 300 })
    expect(failure.message).toBe("no answer within 300 ms")
    expect((await read(respond(200, {}, BODY), { largeBodies: small })).seen.kind).toBe("search")
    const waiting = read(respond(200, {}, large), { largeBodies: second })
    await Bun.sleep(50)
    first.leave()
    first.leave()
    expect((await waiting).seen.kind).toBe("search")
    second.leave()
    expect((await read(respond(200, {}, large), { largeBodies: limit.guest() })).seen.kind).toBe("search")
  })
})

describe("a redirect", () => {
  test("a redirect to another host fails as blocked, and that host gets no request", async () => {
    const failure = await failureOf(respond(302, { location: "https://consent.example.com/m?continue=x" }))
    expect(failure.outcome).toBe("blocked")
    expect(failure.message).toBe("redirected to consent.example.com")
  })

  test("a redirect from https to http fails as blocked and is not followed", async () => {
    const requestedUrls: string[] = []
    const redirectingFetch = async (url: string) => {
      requestedUrls.push(url)
      return new Response(null, { status: 302, headers: { location: "http://apps.apple.com/us" } })
    }
    const reach = reachOf(server, { address: () => "https://apps.apple.com", fetch: redirectingFetch })
    const failure = await readOnce(appleStoreSearch, SUBJECT, reach).catch((e) => e)
    expect([failure.outcome, failure.message, requestedUrls.length]).toEqual([
      "blocked",
      "redirected from https to http",
      1,
    ])
  })

  test("a redirect within the host is followed with the same headers, and the last URL is stored", async () => {
    const at = server.requests.length
    const { body } = await read(({ url }) =>
      url.pathname === "/moved"
        ? new Response(BODY)
        : new Response(null, { status: 301, headers: { location: `${HERE}/moved` } }),
    )
    expect(body.url).toBe(`${HERE}/moved`)
    expect(server.requests.slice(at).map(({ headers }) => headers.get("x-apple-store-front"))).toEqual([
      "143441,24 t:native",
      "143441,24 t:native",
    ])
  })

  test("an endless redirect fails as changed after three", async () => {
    const at = server.requests.length
    const failure = await failureOf(() => new Response(null, { status: 307, headers: { location: `${HERE}/round` } }))
    expect(failure.outcome).toBe("changed")
    expect(server.requests.length - at).toBe(4)
  })

  test("a redirect to an invalid URL fails as changed", async () => {
    expect((await failureOf(respond(302))).outcome).toBe("changed")
    expect((await failureOf(respond(302, { location: "http://[" }))).outcome).toBe("changed")
  })
})

describe("a connection", () => {
  test("a connection is closed when its response exceeds the size limit", async () => {
    let sent = 0
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          sent += 1_000_000
          controller.enqueue(new Uint8Array(1_000_000))
        },
      })
    const failure = await failureOf(() => new Response(endless()), { timeoutMs: 20_000 })
    expect(failure.outcome).toBe("changed")
    expect(failure.body).toBeUndefined()
    // four million bytes are read, and some more are in transit
    expect(sent).toBeLessThan(100_000_000)
  })

  test("a request without a response in time fails", async () => {
    const failure = await failureOf(() => Bun.sleep(3_000).then(() => new Response(BODY)), { timeoutMs: 100 })
    expect(failure.outcome).toBe("failed")
    expect(failure.message).toBe("no answer within 100 ms")
  })

  slow("a connection that stalls within a body times out", async () => {
    const stuck = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(BODY.slice(0, 500))),
    })
    const failure = await failureOf(() => new Response(stuck), { timeoutMs: 200 })
    expect(failure.outcome).toBe("failed")
    expect(failure.message).toBe("no answer within 200 ms")
  })

  test("a refused connection is a failed read", async () => {
    const failure = await failureOf(respond(200), { address: () => "http://127.0.0.1:1" })
    expect(failure.outcome).toBe("failed")
    expect(failure.message).toBe("the connection failed")
    expect(failure.cause).toBeInstanceOf(Error)
  })

  test("an aborted request ends immediately as a failed read", async () => {
    const stop = new AbortController()
    setTimeout(() => stop.abort(new Error("stopping")), 50)
    const started = performance.now()
    const failure = await failureOf(() => Bun.sleep(3_000).then(() => new Response(BODY)), { signal: stop.signal })
    expect(failure.outcome).toBe("failed")
    expect(failure.message).toBe("the reading was stopped")
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

describe("a stored body", () => {
  const body = {
    bytes: new TextEncoder().encode(BODY),
    text: BODY,
    sha256: new Uint8Array(hash("sha256", BODY, "buffer")),
    url: `${HERE}/`,
    seenAt: new Date("2026-02-01T00:00:00Z"),
  }

  test("a stored body is parsed with the same result as when it was received", async () => {
    const { seen: reading } = await read(respond(200, {}, BODY), { now: () => body.seenAt })
    expect(parseBody(appleStoreSearch, SUBJECT, body, undefined)).toEqual(reading)
  })

  test("the failure of a stored body contains the body, whatever the parser throws", () => {
    const trip = () => {
      throw new TypeError("undefined is not an object")
    }
    const tripping = { ...appleStoreSearch, parse: trip }
    for (const [source, text] of [
      [tripping, BODY],
      [appleStoreSearch, "{}"],
    ] as const) {
      const stored = { ...body, text }
      let failure: unknown
      try {
        parseBody(source, SUBJECT, stored, undefined)
      } catch (error) {
        failure = error
      }
      expect(failure).toBeInstanceOf(ReadFailure)
      expect(failure).toMatchObject({ outcome: "changed", body: stored })
    }
  })
})
