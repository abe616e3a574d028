import { describe, expect, test } from "bun:test"
import { type BridgeParts, bridge, type Endpoint } from "../../../src/commands/stdio/bridge.ts"
import { slow } from "../../long.ts"

const URL_OF_IT = "http://127.0.0.1/mcp?tools=keywords"

/** A client of the bridge: sends lines and collects the answers. */
function connect(endpoint: Endpoint, parts: Partial<BridgeParts> = {}) {
  const { readable, writable } = new TransformStream<string, string>()
  const writer = writable.getWriter()
  const out: string[] = []
  const notes: string[] = []
  let woken = Promise.withResolvers<void>()
  const ended = bridge({
    endpoint,
    url: URL_OF_IT,
    key: "svc_test_k",
    lines: readable,
    stopped: new Promise(() => {}),
    explain: (error) => `explained: ${(error as Error).message}`,
    write(line) {
      out.push(line)
      woken.resolve()
      woken = Promise.withResolvers()
    },
    say: (text) => void notes.push(text),
    ...parts,
  })
  return {
    out,
    notes,
    ended,
    send: (message: unknown) => writer.write(typeof message === "string" ? message : JSON.stringify(message)),
    end: () => writer.close(),
    /** Resolves with the messages when there are `count` of them. */
    async messages(count: number) {
      while (out.length < count) await woken.promise
      return out.map((line) => JSON.parse(line))
    },
    /** Resolves with all messages when all requests are answered. */
    async whole() {
      await writer.close()
      await ended
      return out.map((line) => JSON.parse(line))
    },
  }
}

const ask = (id: unknown, method = "ping", params?: object) => ({ jsonrpc: "2.0", id, method, params })
const result = (id: unknown, value: unknown = {}) => ({ jsonrpc: "2.0", id, result: value })

interface Sent {
  jsonrpc?: string
  id?: string | number
  method?: string
  params?: Record<string, unknown>
  result?: unknown
}

/** Answers each request with `reply` and records the requests. */
function stub(reply: (message: Sent, request: Request) => Response | Promise<Response>) {
  const requests: { headers: Record<string, string>; message: Sent; url: string; method: string }[] = []
  const endpoint: Endpoint = async (request) => {
    const message = JSON.parse(await request.text())
    const { url, method } = request
    requests.push({ headers: Object.fromEntries(request.headers), message, url, method })
    return reply(message, request)
  }
  return { requests, endpoint }
}

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
}

function streamOf(
  pieces: (string | Promise<unknown>)[],
  { cancelled = () => {}, contentType = "text/event-stream" } = {},
) {
  const queue = [...pieces]
  const body = new ReadableStream({
    async pull(controller) {
      for (;;) {
        const piece = queue.shift()
        if (piece === undefined) return controller.close()
        if (typeof piece !== "string") await piece
        else return controller.enqueue(new TextEncoder().encode(piece))
      }
    },
    cancel: () => cancelled(),
  })
  return new Response(body, { headers: { "content-type": contentType } })
}

const event = (message: object) => `event: message\ndata: ${JSON.stringify(message)}\n\n`

describe("a line from the client", () => {
  test("a line is sent as a POST with the key, and the answer is written as one line", async () => {
    const { requests, endpoint } = stub(({ id }) => Response.json(result(id, { a: "b\nc" })))
    const client = connect(endpoint)
    await client.send(`{"jsonrpc": "2.0", "id": 1, "method": "ping"}`)
    await client.send("   ")
    expect(await client.whole()).toEqual([result(1, { a: "b\nc" })])
    expect(requests).toHaveLength(1)
    const { headers, url, method } = requests[0]!
    expect([url, method]).toEqual([URL_OF_IT, "POST"])
    expect(headers).toEqual({
      authorization: "Bearer svc_test_k",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    })
  })

  test("a line that is not JSON is answered with -32700, and the next line works", async () => {
    const client = connect(stub(({ id }) => Response.json(result(id))).endpoint)
    await client.send("{nonsense")
    await client.send(ask(2))
    const [refused, answer] = await client.whole()
    expect(refused).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32700 } })
    expect(answer).toEqual(result(2))
  })

  test("a line of several megabytes passes unchanged in both directions", async () => {
    const client = connect(stub(({ id, params }) => Response.json(result(id, params))).endpoint)
    const big = "ü".repeat(2_000_000)
    await client.send(ask(1, "tools/call", { big }))
    expect(await client.whole()).toEqual([result(1, { big })])
  })

  test("an answer is one line, however the server formats its JSON", async () => {
    const pretty = (id: unknown) => JSON.stringify(result(id, { a: 1 }), null, 2).replaceAll("\n", "\r\n")
    const client = connect(stub(({ id }) => new Response(pretty(id))).endpoint)
    await client.send(ask(1))
    await client.whole()
    expect(client.out).toEqual([JSON.stringify(result(1, { a: 1 }))])
  })
})

describe("a message of the protocol revision without a handshake", () => {
  const sendMessage = async (method: string, params: object) => {
    const { requests, endpoint } = stub(({ id }) => Response.json(result(id)))
    const client = connect(endpoint)
    await client.send(ask(1, method, { ...params, _meta: ENVELOPE }))
    await client.whole()
    const { headers } = requests[0]!
    return [headers["mcp-protocol-version"], headers["mcp-method"], headers["mcp-name"]]
  }

  test.each([
    ["tools/list", {}, undefined],
    ["tools/call", { name: "get_app" }, "get_app"],
    ["tools/call", { name: "größe" }, "=?base64?Z3LDtsOfZQ==?="],
    ["tools/call", { name: " x" }, "=?base64?IHg=?="],
    ["tools/call", { name: "" }, "=?base64??="],
    ["tools/call", { name: "=?base64?eA==?=" }, "=?base64?PT9iYXNlNjQ/ZUE9PT89?="],
    ["tools/call", { name: "a\r\nx-evil: 1" }, "=?base64?YQ0KeC1ldmlsOiAx?="],
    ["prompts/get", { name: "weekly review" }, "weekly review"],
    ["resources/read", { uri: "appmeter://guide", name: "no" }, "appmeter://guide"],
    ["completion/complete", { name: "no" }, undefined],
    ["tools/call", { name: 7 }, undefined],
  ])("a message with protocol metadata repeats its method and name in headers: %s %j", async (method, params, name) => {
    expect(await sendMessage(method, params)).toEqual(["2026-07-28", method, name])
  })

  test("a message without a protocol revision is sent without MCP headers", async () => {
    const { requests, endpoint } = stub(({ id }) => Response.json(result(id)))
    const client = connect(endpoint)
    await client.send(ask(1, "tools/call", { name: "x", _meta: { progressToken: 1 } }))
    await client.whole()
    expect(Object.keys(requests[0]!.headers).filter((name) => name.startsWith("mcp-"))).toEqual([])
  })
})

describe("after a handshake", () => {
  test("after a handshake, messages without protocol metadata carry its revision and session id", async () => {
    const { requests, endpoint } = stub(({ id, method }) => {
      const headers = { "mcp-session-id": "s1" }
      if (method === "initialize") return Response.json(result(id, { protocolVersion: "2025-06-18" }), { headers })
      return id === undefined || !method ? new Response(null, { status: 202 }) : Response.json(result(id))
    })
    const client = connect(endpoint)
    await client.send(ask(1, "initialize", { protocolVersion: "2025-06-18" }))
    await client.messages(1)
    await client.send({ jsonrpc: "2.0", method: "notifications/initialized" })
    await client.send(ask(2, "tools/list"))
    await client.send({ jsonrpc: "2.0", id: "ask_1", result: { action: "accept" } })
    await client.send(ask(3, "tools/list", { _meta: ENVELOPE }))
    const answers = await client.whole()
    expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, 3])
    const carried = requests.map(({ headers }) => [headers["mcp-session-id"], headers["mcp-protocol-version"]])
    const session = ["s1", "2025-06-18"]
    expect(carried).toEqual([[undefined, undefined], session, session, session, [undefined, "2026-07-28"]])
    expect(requests[3]!.message).toEqual({ jsonrpc: "2.0", id: "ask_1", result: { action: "accept" } })
    expect(client.notes).toEqual([])
  })
})

describe("an answer in a stream", () => {
  test("a streamed answer is forwarded message by message, and the client can reply during the stream", async () => {
    const agreed = Promise.withResolvers<void>()
    const { endpoint } = stub(({ id, method, result: received }) => {
      if (method === undefined) {
        expect(received).toEqual({ action: "accept" })
        agreed.resolve()
        return new Response(null, { status: 202 })
      }
      const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } }
      const question = ask("ask_1", "elicitation/create", { message: "Sure?" })
      // a comment, an unknown event name, an event in two pieces and one with split line ends
      const whole = event(result(id, { text: "ü" }))
      const bytes = whole.replaceAll("\n", "\r\n")
      return streamOf([
        ": hello\n\n",
        "event: other\ndata: {}\n\n",
        event(progress).slice(0, 30),
        event(progress).slice(30),
        event(question),
        agreed.promise,
        bytes.slice(0, bytes.indexOf("\r") + 1),
        bytes.slice(bytes.indexOf("\r") + 1),
      ])
    })
    const client = connect(endpoint)
    await client.send(ask(1, "tools/call", { name: "confirm_action" }))
    const [progress, question] = await client.messages(2)
    expect([progress.method, question.method, question.id]).toEqual([
      "notifications/progress",
      "elicitation/create",
      "ask_1",
    ])
    expect(client.out).toHaveLength(2)
    await client.send({ jsonrpc: "2.0", id: "ask_1", result: { action: "accept" } })
    expect((await client.whole()).slice(2)).toEqual([result(1, { text: "ü" })])
  })

  test("a stream that ends without an answer gives an error", async () => {
    const client = connect(stub(() => streamOf([event({ jsonrpc: "2.0", method: "notifications/progress" })])).endpoint)
    await client.send(ask(5))
    const [, refused] = await client.whole()
    expect(refused).toMatchObject({
      id: 5,
      error: { code: -32000, message: expect.stringContaining("ended without an answer") },
    })
  })

  test("a cancelled stream is closed, and nothing more is written", async () => {
    let cancelled = 0
    const open = Promise.withResolvers<void>()
    const { requests, endpoint } = stub(({ id, method }) => {
      if (id === 2) return Response.json(result(2))
      if (method !== "tools/call") return new Response(null, { status: 202 })
      const progress = { jsonrpc: "2.0", method: "notifications/progress" }
      return streamOf([event(progress), open.promise, event(result(id))], { cancelled: () => cancelled++ })
    })
    const client = connect(endpoint)
    await client.send(ask(1, "tools/call", { name: "x" }))
    await client.messages(1)
    await client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })
    await client.send(ask(2))
    await client.messages(2)
    open.resolve()
    expect((await client.whole()).map(({ id, method }) => id ?? method)).toEqual(["notifications/progress", 2])
    expect(cancelled).toBe(1)
    expect(requests.map(({ message }) => message.method)).toContain("notifications/cancelled")
  })
})

describe("calls", () => {
  test("a slow call does not delay other calls", async () => {
    const slow = Promise.withResolvers<void>()
    const { endpoint } = stub(async ({ id }) => {
      if (id === 1) await slow.promise
      return Response.json(result(id))
    })
    const client = connect(endpoint)
    await client.send(ask(1))
    await client.send(ask(2))
    expect(await client.messages(1)).toEqual([result(2)])
    slow.resolve()
    expect(await client.whole()).toEqual([result(2), result(1)])
  })

  test("a cancelled call ends and writes nothing, even if the endpoint ignores the cancellation", async () => {
    const signals: AbortSignal[] = []
    const { requests, endpoint } = stub(({ id, method }, { signal }) => {
      if (method === "notifications/cancelled") return new Response(null, { status: 202 })
      signals.push(signal)
      return id === 9 ? Response.json(result(9)) : new Promise<Response>(() => {})
    })
    const client = connect(endpoint)
    await client.send(ask(1))
    await client.send(ask("1", "tools/call", { _meta: ENVELOPE }))
    await client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })
    await client.send({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: "1", _meta: ENVELOPE },
    })
    await client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 77 } })
    await client.send(ask(9))
    expect(await client.whole()).toEqual([result(9)])
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, false])
    // the call with an envelope is cancelled by closing the connection
    expect(requests.filter(({ message }) => message.method === "notifications/cancelled")).toHaveLength(2)
  })

  slow("a stop waits a limited time for the answers to open calls", async () => {
    const slow = Promise.withResolvers<void>()
    const stop = Promise.withResolvers<void>()
    const { endpoint } = stub(async ({ id }) => {
      if (id === 1) await slow.promise
      if (id === 2) await new Promise(() => {})
      return Response.json(result(id))
    })
    const client = connect(endpoint, { stopped: stop.promise, endsWithinMs: 300 })
    await client.send(ask(1))
    await client.send(ask(2))
    stop.resolve()
    slow.resolve()
    await client.ended
    expect(client.out.map((line) => JSON.parse(line))).toEqual([result(1)])
  })
})

describe("an invalid answer becomes an error with the request's id", () => {
  const answerOf = async (endpoint: Endpoint, message: object = ask(4)) => {
    const client = connect(endpoint)
    await client.send(message)
    const messages = await client.whole()
    return { messages, notes: client.notes }
  }

  test.each([
    [
      "the error page of a proxy",
      () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
      /answered 502; it is not Appmeter's tool endpoint/,
    ],
    [
      "an unknown endpoint of the API",
      () => Response.json({ error: "unknown_endpoint", message: "There is none." }, { status: 404 }),
      /404.*There is none/,
    ],
    [
      "a redirect to a new address",
      () => new Response("", { status: 308, headers: { location: "https://new.example/mcp" } }),
      /308.*https:\/\/new\.example\/mcp/,
    ],
    ["an empty response", () => new Response(null, { status: 202 }), /without an answer/],
    ["an answer to another request", () => Response.json(result(5)), /without an answer/],
    [
      "a lost connection",
      () => {
        throw new Error("lost")
      },
      /^explained: lost$/,
    ],
  ] as const)("an invalid answer becomes an error with the request's id: %s", async (_, reply, reason) => {
    const { messages } = await answerOf(async () => reply())
    expect(messages.at(-1)).toMatchObject({
      jsonrpc: "2.0",
      id: 4,
      error: { code: -32000, message: expect.stringMatching(reason) },
    })
  })

  test("an error response without an id gets the id of its request", async () => {
    const error = { code: -32000, message: "The body is too large." }
    const { messages } = await answerOf(async () => Response.json({ jsonrpc: "2.0", id: null, error }, { status: 413 }))
    expect(messages).toEqual([{ jsonrpc: "2.0", id: 4, error }])
  })

  test("an error for a notification goes to stderr and not to the client", async () => {
    const note = { jsonrpc: "2.0", method: "notifications/initialized" }
    const error = { code: -32001, message: "No key." }
    const refused = await answerOf(
      async () => Response.json({ jsonrpc: "2.0", id: null, error }, { status: 401 }),
      note,
    )
    expect([refused.messages, refused.notes]).toEqual([[], [expect.stringContaining("No key.")]])
    const lostMessage = await answerOf(async () => {
      throw new Error("away")
    }, note)
    expect([lostMessage.messages, lostMessage.notes]).toEqual([[], ["not forwarded: explained: away"]])
  })
})
