import { expect, test } from "bun:test"
import type { Invocation } from "../../../src/commands/cli/command.ts"
import { processLog } from "../../../src/commands/process/log-lines.ts"

const KEY = `svc_live_${"Canary0123456789".repeat(3).slice(0, 36)}`

function logLines(
  logFormat: "auto" | "json" | "lines",
  isWatched: boolean,
): { lines: string[]; log: ReturnType<typeof processLog> } {
  const lines: string[] = []
  const terminal = { err: (text: string) => void lines.push(text), isWatched: () => isWatched }
  const log = processLog({ terminal, settings: { logLevel: "info", logFormat } } as unknown as Invocation)
  return { lines, log }
}

/** Waits for the end of the turn, when lines are written. */
const turnOver = () => new Promise(setImmediate)

test("the log is JSON in a pipe and lines on a terminal, unless LOG_FORMAT is set", async () => {
  for (const [format, isWatched, isJson] of [
    ["auto", false, true],
    ["auto", true, false],
    ["json", true, true],
    ["lines", false, false],
  ] as const) {
    const { lines, log } = logLines(format, isWatched)
    log("info", "listening", { url: "http://127.0.0.1:8787" })
    await turnOver()
    expect(lines[0]?.startsWith("{")).toBe(isJson)
  }
})

test("a call's line has method, path, status, time and price; a failed call's line has code and request id", () => {
  const { lines, log } = logLines("lines", false)
  log("info", "call", { requestId: "r1", method: "GET", path: "/v1/apps", status: 200, latencyMs: 23.61, cost: 1 })
  log("info", "call", {
    requestId: "r2",
    method: "POST",
    path: "/mcp",
    operation: "list_apps",
    status: 404,
    code: "not_found",
    latencyMs: 1.26,
    cost: 0,
  })
  log("warn", "source_failed", { reason: "the store refuses", count: 2 })
  expect(
    lines
      .join("")
      .replace(/^\d\d:\d\d:\d\d /gm, "")
      .split("\n"),
  ).toEqual([
    "GET /v1/apps 200 24 ms 1 credit",
    "POST /mcp list_apps 404 not_found 1.3 ms r2",
    'warn: source failed  reason="the store refuses"  count=2',
    "",
  ])
})

test("calls in one tick of the event loop are logged together, and any other line is logged immediately", async () => {
  const { lines, log } = logLines("json", false)
  const writtenIds = () => lines.map((text) => [...text.matchAll(/"requestId":"(\w+)"/g)].map(([, id]) => id))
  const call = (requestId: string) => log("info", "call", { requestId })
  call("a")
  call("b")
  expect(writtenIds()).toEqual([])
  log("info", "stopped", { requestId: "c" })
  expect(writtenIds()).toEqual([["a", "b", "c"]])
  call("d")
  call("e")
  await turnOver()
  expect(writtenIds().slice(1)).toEqual([["d", "e"]])
})

test("a log line contains no key, and no control character from a caller", () => {
  const { lines, log } = logLines("lines", true)
  log("error", "internal_error", { reason: `\u001b[2J${KEY}\u202e\n`, stack: "at x" })
  expect(lines).toHaveLength(1)
  expect(lines[0]).not.toContain("Canary")
  const [red, plain] = ["\u001b[31m", "\u001b[39m\n"]
  expect(lines[0]?.startsWith(red) && lines[0].endsWith(plain)).toBeTrue()
  expect(lines[0]?.slice(red.length, -plain.length)).not.toMatch(/\p{C}/u)
})
