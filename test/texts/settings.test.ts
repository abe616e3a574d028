import { afterAll, describe, expect, test } from "bun:test"
import { checkWriter } from "../../src/commands/doctor/writer.ts"
import { readSettings } from "../../src/settings/settings.ts"
import { openStandIn, receiptOf, type Script } from "./stand-in.ts"

const settingsOf = (env: Record<string, string>) => readSettings(env, () => "")
const writerOf = (env: Record<string, string>) => settingsOf({ AI_MODEL: "m-1", ...env }).writer

describe("the settings of a writer", () => {
  test("without settings AI writing is off, and a provider's address requires a model", () => {
    expect(settingsOf({}).writer).toBeNull()
    expect(() => settingsOf({ AI_URL: "http://127.0.0.1:1/v1" })).toThrow("AI_MODEL is missing")
  })

  test.each([
    ["http://127.0.0.1:11434/v1/", "chat", 8_000],
    ["http://ollama:11434/v1", "chat", 8_000],
    ["http://192.168.1.9/v1", "chat", 8_000],
    ["https://models.example.com/v1", "chat", 100_000],
    ["https://api.openai.com/v1", "responses", 100_000],
    ["https://api.anthropic.com/v1", "messages", 100_000],
  ] as const)("the address %s implies the format %s and %i tokens", (AI_URL, api, contextTokens) =>
    expect(writerOf({ AI_URL })).toMatchObject({ api, contextTokens, model: "m-1", tokensADay: 5_000_000, atOnce: 2 }),
  )

  test("explicit settings override derived settings, and a trailing slash is removed from the address", () => {
    const writer = writerOf({
      AI_URL: "http://127.0.0.1:1/v1/",
      AI_API: "messages",
      AI_CONTEXT_TOKENS: "32000",
      AI_PRICE: "0.1,2",
    })
    expect(writer).toMatchObject({
      url: "http://127.0.0.1:1/v1",
      api: "messages",
      contextTokens: 32_000,
      price: { input: 0.1, output: 2 },
    })
  })

  test("an invalid key is never shown", () => {
    const wrong = () => writerOf({ AI_URL: "http://127.0.0.1:1/v1", AI_KEY: "two words" })
    expect(wrong).toThrow(/^AI_KEY \(hidden\)/)
  })
})

describe("doctor", () => {
  const standIn = openStandIn("chat")
  afterAll(() => standIn.close())
  const reached = { database: async () => null, close: async () => {} } as never
  const findingsOf = async (script: Script) => {
    standIn.script.splice(0, standIn.script.length, script)
    return await checkWriter(
      { settings: settingsOf({ AI_URL: standIn.url, AI_MODEL: "m-1", AI_KEY: "sk-1" }) },
      reached,
    )
  }

  test.each<[string, Script, object]>([
    [
      "with an object that matches the schema",
      { say: (lines) => JSON.stringify({ receipt: receiptOf(lines), word: "tide" }) },
      { state: "ok" },
    ],
    ["with a text instead of an object", { say: () => "tide" }, { state: "warning" }],
    ["with status 401", { status: 401 }, { state: "problem", says: expect.stringContaining("denied (401") }],
    ["with status 429", { status: 429 }, { state: "problem", says: expect.stringContaining("busy (429") }],
  ])("doctor sends the provider a request and rates a provider that answers %s", async (_, script, finding) => {
    const findings = await findingsOf(script)
    expect(findings).toEqual([expect.objectContaining({ thing: "writer", ...finding })])
    expect(JSON.stringify(findings)).not.toInclude("sk-1")
  })

  test("doctor prints nothing without AI settings", async () =>
    expect(await checkWriter({ settings: settingsOf({}) }, reached)).toEqual([]))
})
