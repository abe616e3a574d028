import type { Assistant } from "../../src/lib/upstreams.ts"

/** A question that the stand-in received. */
export interface HeardQuestion {
  assistant: Assistant
  path: string
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: three formats
  body: any
  question: string
}

/** How the stand-in answers one question. */
export type EngineScript =
  | AnswerParts
  | { status: number; body?: object; headers?: Record<string, string> }
  | { raw: string }
  | { pauses: number; text: string }
  | { searchFails: true; text: string }

export interface EnginesStandIn {
  /** The address of each assistant, as in AI_ENGINE_URLS. */
  urls: Record<Assistant, string>
  questions: HeardQuestion[]
  /** The answer of each assistant, by question. */
  answers: Partial<Record<Assistant, (question: string, nth: number) => EngineScript>>
  close(): Promise<void>
}

/** Starts a loopback server for the assistants of all four providers, with complete response bodies. */
export function openEngines(): EnginesStandIn {
  const questions: HeardQuestion[] = []
  const answers: EnginesStandIn["answers"] = {}
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const [, assistant, ...rest] = pathname.split("/") as [string, Assistant, ...string[]]
      const body = JSON.parse(await request.text())
      const question = QUESTION[assistant](body)
      questions.push({ assistant, path: `/${rest.join("/")}`, headers: request.headers, body, question })
      const nth = questions.filter((entry) => entry.assistant === assistant && entry.question === question).length - 1
      const script = answers[assistant]?.(question, nth) ?? { text: "There is none." }
      return answerOf(assistant, script, body)
    },
  })
  const base = `http://127.0.0.1:${server.port}`
  return {
    urls: {
      openai: `${base}/openai/v1`,
      anthropic: `${base}/anthropic/v1`,
      google: `${base}/google/v1beta`,
      perplexity: `${base}/perplexity/v1`,
    },
    questions,
    answers,
    close: () => server.stop(true),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: three formats
const QUESTION: Record<Assistant, (body: any) => string> = {
  openai: ({ input }) => input,
  perplexity: ({ input }) => input,
  anthropic: ({ messages }) => messages[0].content,
  google: ({ contents }) => contents[0].parts[0].text,
}

// biome-ignore lint/suspicious/noExplicitAny: three formats
function answerOf(assistant: Assistant, script: EngineScript, body: any): Response {
  if ("raw" in script) return new Response(script.raw)
  if ("status" in script)
    return Response.json(script.body ?? {}, { status: script.status, headers: script.headers ?? {} })
  if ("pauses" in script) return Response.json(paused(script, body))
  if ("searchFails" in script) return Response.json(failedSearch(script.text))
  return Response.json(SAY[assistant](script))
}

interface AnswerParts {
  text: string
  searched?: boolean
  cited?: { url: string; title: string }[]
  end?: "well" | "cut" | "refused"
}

const SAY: Record<Assistant, (answer: AnswerParts) => object> = {
  openai: ({ text, searched = true, cited = [], end = "well" }) => ({
    id: "resp_0a1b2c3d",
    object: "response",
    created_at: 1_790_000_000,
    status: end === "cut" ? "incomplete" : "completed",
    error: null,
    incomplete_details: end === "cut" ? { reason: "max_output_tokens" } : null,
    model: "gpt-6-luna-2026-09-01",
    output: [
      { type: "reasoning", id: "rs_1", summary: [] },
      ...(searched
        ? [
            {
              type: "web_search_call",
              id: "ws_1",
              status: "completed",
              action: {
                type: "search",
                query: "best apps",
                sources: [{ type: "url", url: "https://unread.example/" }],
              },
            },
          ]
        : []),
      {
        type: "message",
        id: "msg_1",
        status: "completed",
        role: "assistant",
        content: [
          end === "refused"
            ? { type: "refusal", refusal: "I cannot help with that." }
            : {
                type: "output_text",
                text,
                annotations: cited.map(({ url, title }) => ({
                  type: "url_citation",
                  start_index: 0,
                  end_index: 1,
                  url,
                  title,
                })),
                logprobs: [],
              },
        ],
      },
    ],
    store: false,
    usage: {
      input_tokens: 8_200,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 400,
      output_tokens_details: { reasoning_tokens: 128 },
      total_tokens: 8_600,
    },
  }),
  perplexity: ({ text, searched = true, cited = [], end = "well" }) => ({
    background: false,
    id: "resp_8762b9bb",
    object: "response",
    status: end === "cut" ? "incomplete" : "completed",
    incomplete_details: end === "cut" ? { reason: "max_output_tokens" } : null,
    model: "sonar",
    output: [
      ...(searched
        ? [
            {
              type: "search_results",
              queries: ["best apps"],
              results: [
                ...cited.map((citation, at) => ({ ...citation, id: at + 1, snippet: "…", source: "web" })),
                { id: 99, url: "https://unread.example/", title: "Not named", snippet: "…", source: "web" },
              ],
            },
          ]
        : []),
      {
        type: "message",
        id: "msg_2",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", annotations: [], text: text + cited.map((_, at) => `[${at + 1}]`).join("") }],
      },
    ],
    store: false,
    usage: {
      cost: { currency: "USD", total_cost: 0.00119 },
      input_tokens: 3_007,
      output_tokens: 36,
      total_tokens: 3_043,
    },
  }),
  anthropic: ({ text, searched = true, cited = [], end = "well" }) => ({
    id: "msg_01",
    type: "message",
    role: "assistant",
    model: "claude-haiku-5-5",
    content: [
      ...(searched
        ? [
            { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "best apps" } },
            {
              type: "web_search_tool_result",
              tool_use_id: "srvtoolu_1",
              content: [
                {
                  type: "web_search_result",
                  title: "Best",
                  url: "https://unread.example/",
                  encrypted_content: "x",
                  page_age: null,
                },
              ],
            },
          ]
        : []),
      ...(end === "refused" ? [] : [{ type: "text", text: text.slice(0, 5) }]),
      ...(end === "refused"
        ? []
        : [
            {
              type: "text",
              text: text.slice(5),
              citations: cited.map((citation) => ({
                type: "web_search_result_location",
                cited_text: "…",
                encrypted_index: "y",
                ...citation,
              })),
            },
          ]),
    ],
    stop_reason: { well: "end_turn", cut: "max_tokens", refused: "refusal" }[end],
    stop_sequence: null,
    usage: {
      input_tokens: 9_000,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 1_000,
      output_tokens: 350,
      server_tool_use: { web_search_requests: searched ? 1 : 0 },
    },
  }),
  google: ({ text, searched = true, cited = [], end = "well" }) => ({
    candidates: [
      {
        content: { role: "model", parts: [{ text: "Let me think.", thought: true }, { text }] },
        finishReason: { well: "STOP", cut: "MAX_TOKENS", refused: "SAFETY" }[end],
        index: 0,
        groundingMetadata: {
          ...(searched && { webSearchQueries: ["best apps", "top apps"] }),
          groundingChunks: cited.map(({ url, title }) => ({ web: { uri: url, title } })),
          groundingSupports: [],
        },
      },
    ],
    usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 300, thoughtsTokenCount: 90, totalTokenCount: 410 },
    modelVersion: "gemini-3-flash",
    responseId: "r-1",
  }),
}

/** Answers a request of the Messages API after the given number of pauses. */
function paused({ pauses, text }: { pauses: number; text: string }, body: { messages: object[] }): object {
  const whole = SAY.anthropic({ text }) as { stop_reason: string; content: object[] }
  if (body.messages.length - 1 >= pauses) return { ...whole, content: whole.content.slice(-2) }
  return { ...whole, stop_reason: "pause_turn", content: whole.content.slice(0, 2) }
}

/** Returns a response of the Messages API whose search failed, but which is still an answer. */
function failedSearch(text: string): object {
  const whole = SAY.anthropic({ text, searched: false }) as { content: object[] }
  const error = {
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: { type: "web_search_tool_result_error", error_code: "unavailable" },
  }
  return { ...whole, content: [error, ...whole.content] }
}
