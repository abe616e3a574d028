import { randomInt } from "node:crypto"
import type { WireName } from "../../src/lib/writing/written-text.ts"

/** A request that the stand-in received. */
export interface SeenRequest {
  path: string
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: three formats
  body: any
  system: string
  data: string
}

/** The response to a request. `say` gets the lines of the prompt and returns the model's answer. */
export type Script =
  | {
      say: (lines: Line[]) => string
      end?: "well" | "cut" | "refused"
      inputTokens?: number
      afterMs?: number
      /** The response is sent only after this promise has resolved. */
      after?: Promise<void>
    }
  | { status: number; body?: string; headers?: Record<string, string> }
  | { raw: string }

// biome-ignore lint/suspicious/noExplicitAny: lines of any shape
export type Line = Record<string, any>

export interface StandIn {
  url: string
  requests: SeenRequest[]
  /** The next responses, in order. The last one is repeated. */
  script: Script[]
  close(): Promise<void>
}

/** Starts a provider on loopback that follows its script and records the requests. */
export function openStandIn(api: WireName): StandIn {
  const requests: SeenRequest[] = []
  const script: Script[] = []
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    async fetch(request) {
      const body = JSON.parse(await request.text())
      const parsed = READ[api](body)
      requests.push({ path: new URL(request.url).pathname, headers: request.headers, body, ...parsed })
      const next = script.length > 1 ? script.shift()! : script[0]!
      return await answerOf(api, next, parsed.data)
    },
  })
  return { url: `http://127.0.0.1:${server.port}/v1`, requests, script, close: () => server.stop(true) }
}

async function answerOf(api: WireName, script: Script, data: string): Promise<Response> {
  if ("raw" in script) return new Response(script.raw)
  if ("status" in script)
    return new Response(script.body ?? "", { status: script.status, headers: script.headers ?? {} })
  const { say, end = "well", inputTokens = Math.ceil(data.length / 3) + 500, afterMs = 0 } = script
  if (afterMs > 0) await Bun.sleep(afterMs)
  await script.after
  return Response.json(SAY[api](say(linesOf(data)), end, inputTokens))
}

export function linesOf(data: string): Line[] {
  return data.split("\n").map((line) => JSON.parse(line))
}

/** Returns the receipt of a prompt, which a well-behaved model copies. */
export function receiptOf(lines: readonly Line[]): Line {
  const { last, records } = lines.at(-1)!
  return { first: lines[0]!.first, last, records }
}

/** Returns a script that answers correctly. */
export const well = (answer: (lines: Line[]) => object): Script => ({
  say: (lines) => JSON.stringify({ receipt: receiptOf(lines), ...answer(lines) }),
})

const READ: Record<WireName, (body: Line) => { system: string; data: string }> = {
  chat: ({ messages }) => ({ system: messages[0].content, data: messages[1].content }),
  responses: ({ instructions, input }) => ({ system: instructions, data: input }),
  messages: ({ system, messages }) => ({ system, data: messages[0].content }),
}

const SAY: Record<WireName, (text: string, end: string, input: number) => object> = {
  chat: (content, end, prompt_tokens) => ({
    choices: [
      {
        message: end === "refused" ? { content: null, refusal: "no" } : { content },
        finish_reason: end === "cut" ? "length" : "stop",
      },
    ],
    usage: { prompt_tokens, completion_tokens: 50 },
  }),
  responses: (text, end, input_tokens) => ({
    status: end === "cut" ? "incomplete" : "completed",
    ...(end === "cut" && { incomplete_details: { reason: "max_output_tokens" } }),
    output: [
      { type: "reasoning", summary: [] },
      {
        type: "message",
        content: end === "refused" ? [{ type: "refusal", refusal: "no" }] : [{ type: "output_text", text }],
      },
    ],
    usage: { input_tokens, output_tokens: 50 },
  }),
  messages: (text, end, input_tokens) => ({
    content: end === "refused" ? [] : [{ type: "text", text }],
    stop_reason: end === "cut" ? "max_tokens" : end === "refused" ? "refusal" : "end_turn",
    usage: {
      input_tokens: Math.max(0, input_tokens - 400),
      cache_read_input_tokens: Math.min(400, input_tokens),
      output_tokens: 50,
    },
  }),
}

export const anyOf = <T>(list: readonly T[]): T => list[randomInt(list.length)]!
