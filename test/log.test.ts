import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createLog, type LogFields, redact } from "../src/lib/log.ts"
import { LOG_EVENTS } from "../src/lib/log-events.ts"

const KEY = `svc_live_${"Canary0123456789".repeat(3).slice(0, 36)}`
const everyCharacter = (text: string) => [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join("")

const FIELDS: (keyof LogFields)[] = [
  "requestId",
  "callerRequestId",
  "traceId",
  "method",
  "path",
  "operation",
  "status",
  "code",
  "latencyMs",
  "workspace",
  "keyId",
  "address",
  "database",
  "limits",
  "version",
  "url",
  "count",
  "bytes",
  "signal",
  "reason",
  "stack",
]

function logged(fields: Record<string, unknown>, least?: Parameters<typeof createLog>[1]): string[] {
  const lines: string[] = []
  const log = createLog(
    (line) => void lines.push(line),
    least,
    () => new Date(0),
  )
  log("info", "call", fields as LogFields)
  return lines
}

test("every event that the manual lists is logged somewhere in the program", () => {
  const root = join(import.meta.dirname, "../src")
  const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  const code = files
    .filter((name) => name.endsWith(".ts") && !name.endsWith("log-events.ts"))
    .map((name) => readFileSync(join(root, name), "utf8"))
    .join("\n")
  expect(Object.keys(LOG_EVENTS).filter((event) => !code.includes(`"${event}"`))).toEqual([])
})

describe("a log line", () => {
  test("a log line is one JSON object with time, level and event, ended by one newline", () => {
    const [line = ""] = logged({ status: 200, latencyMs: 1.5, path: "/v1/apps" })
    expect(line.endsWith("}\n")).toBeTrue()
    expect(JSON.parse(line)).toEqual({
      at: "1970-01-01T00:00:00.000Z",
      level: "info",
      event: "call",
      status: 200,
      latencyMs: 1.5,
      path: "/v1/apps",
    })
  })

  test("a log line has only fields of the allow-list, and can have all of them", () => {
    const all = Object.fromEntries(FIELDS.map((name) => [name, "value"]))
    const [line = ""] = logged({ ...all, authorization: "secret1", headers: { cookie: "secret2" }, query: "secret3" })
    expect(Object.keys(JSON.parse(line)).sort()).toEqual(["at", "level", "event", ...FIELDS].sort())
    expect(line).not.toContain("secret")
  })

  test.each(["\r\n", "\n", "\r", "\u2028", "\u2029", "\u0085", "\0", "\u001b[2K"])(
    "a log line stays one line with %j in every field",
    (breaks) => {
      const [line = "", ...more] = logged(
        Object.fromEntries(FIELDS.map((name) => [name, `a${breaks}{"level":"error"}`])),
      )
      expect(more).toEqual([])
      for (const end of "\r\n\u2028\u2029\u0085\0\u001b") expect(line.slice(0, -1)).not.toContain(end)
      expect(JSON.parse(line).path).toBe(`a${breaks}{"level":"error"}`)
    },
  )

  test("a log line below the minimum level is not written", () => {
    expect(logged({}, "warn")).toEqual([])
    expect(logged({}, "info")).toHaveLength(1)
  })

  test("each field of a log line is shortened to 2,000 characters after redaction", () => {
    const [line = ""] = logged({ reason: `${"x".repeat(1_990)} ${KEY}` })
    expect(JSON.parse(line).reason).toHaveLength(2_000)
    expect(line).not.toContain("Canary")
  })
})

describe("no secret reaches a line", () => {
  const forms: [string, string][] = [
    ["a key", KEY],
    ["a key in a URL", `/v1/apps?key=${KEY}&x=1`],
    ["the start of a key", KEY.slice(0, 20)],
    ["a key with its underscores encoded", KEY.replaceAll("_", "%5F")],
    ["a key encoded twice", KEY.replaceAll("_", "%255f")],
    ["a key with every character encoded", everyCharacter(KEY)],
    ["a key with every character encoded twice", everyCharacter(KEY).replaceAll("%", "%25")],
    ["a key in odd case", KEY.replace("svc_live", "SVC_Live")],
    ["a test key", KEY.replace("live", "test")],
    ["a bearer header", `authorization: Bearer ${KEY.slice(9)}`],
    ["a basic header", `Basic ${btoa("user:Canary0123")}`],
    ["a password in a database address", "postgres://user:Canary0123@host:5432/name"],
    ["a password with an @", "postgres://user:Canary@0123@host/name"],
    ["a password without a user", "redis://:Canary0123@host"],
    ["an encoded address", encodeURIComponent("postgres://user:Canary0123@host/name")],
    ["a token in a query", "https://x.example/?token=Canary0123&a=b"],
    ["a password in JSON", '{"password":"Canary0123"}'],
    ["an error object", new Error(KEY) as unknown as string],
  ]
  test.each(forms)("%s is redacted in every field", (_, secret) => {
    for (const name of FIELDS) {
      const [line = ""] = logged({ [name]: secret })
      expect(decodedOften(line)).not.toMatch(/canary|0123|Q2FuYXJ5/i)
    }
  })

  test("text without secrets stays readable", () => {
    for (const text of [
      "/v1/apps/:appId/keywords",
      "http://127.0.0.1:8787/v1",
      "svc_live_…FajQ",
      "unexpected token in JSON",
    ])
      expect(redact(text)).toBe(text)
  })
})

function decodedOften(text: string): string {
  const decoded = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return decoded === text ? text : decodedOften(decoded)
}
