import { describe, expect, test } from "bun:test"
import { PassThrough } from "node:stream"
import { linesOf } from "../../../src/commands/cli/read-lines.ts"
import { processTerminal } from "../../../src/commands/cli/terminal.ts"
import { nearest } from "../../../src/lib/text.ts"
import { errorOf } from "../../error-of.ts"

function terminalOf({ isTTY = true, env = {}, typed = "" }: { isTTY?: boolean; env?: object; typed?: string }) {
  const stream = () => Object.assign(new PassThrough(), { isTTY })
  const [stdin, stdout, stderr] = [stream(), stream(), stream()]
  if (typed) stdin.write(typed)
  const terminal = processTerminal({ stdin, stdout, stderr } as never, env as Record<string, string>)
  const [readErrors, written] = [collect(stderr), collect(stdout)]
  return { terminal, readErrors, written, stdin }
}

function collect(stream: PassThrough): () => string {
  let text = ""
  stream.on("data", (chunk) => {
    text += chunk
  })
  return () => text
}

describe("on a terminal", () => {
  test("a confirmation on a terminal needs a typed yes", async () => {
    const { terminal, readErrors } = terminalOf({ typed: "yes\n" })
    await terminal.confirm("Deleting it cannot be undone.")
    expect(readErrors()).toContain("Deleting it cannot be undone. Type yes to continue: ")
    for (const typed of ["y\n", "\n", "no\n", "yes please\n"])
      expect(String(await errorOf(terminalOf({ typed }).terminal.confirm("Sure?")))).toMatch(
        "cancelled; nothing was done",
      )
  })

  test("the end of input, such as Ctrl-D, cancels a confirmation", async () => {
    const { terminal, stdin } = terminalOf({})
    const confirmation = terminal.confirm("Sure?")
    stdin.end()
    expect(String(await errorOf(confirmation))).toMatch("cancelled; nothing was done")
  })

  test("on a terminal, progress redraws one line, and text is bold unless NO_COLOR is set", async () => {
    const { terminal, readErrors } = terminalOf({})
    terminal.progress("1 of 2")
    await Bun.sleep(1)
    expect(readErrors()).toBe("\r\u001b[2K1 of 2")
    expect(terminal.bold("x")).toBe("\u001b[1mx\u001b[22m")
    expect(terminalOf({ env: { NO_COLOR: "1" } }).terminal.bold("x")).toBe("x")
  })

  test("a command refuses to read its data from a terminal", () => {
    expect(() => terminalOf({}).terminal.stdin()).toThrow("stdin is a terminal")
  })
})

describe("without a terminal", () => {
  test("a command in a pipe asks nothing and prints no progress or bold text", async () => {
    const { terminal, readErrors } = terminalOf({ isTTY: false, typed: "yes\n" })
    expect(String(await errorOf(terminal.confirm("Sure?")))).toMatch(
      "Sure? Nothing was done. To skip this question, add --force",
    )
    terminal.progress("1 of 2")
    expect([readErrors(), terminal.bold("x")]).toEqual(["", "x"])
  })

  test("JSON output is one document with a final newline", async () => {
    const { terminal, written } = terminalOf({ isTTY: false })
    terminal.json({ a: [1] })
    await terminal.flush()
    expect(written()).toBe('{\n  "a": [\n    1\n  ]\n}\n')
  })
})

describe("lines of a stream", () => {
  const readLines = async (...chunks: (string | number[])[]) => {
    const bytes = chunks.map((chunk) => (typeof chunk === "string" ? Buffer.from(chunk) : Uint8Array.from(chunk)))
    return await Array.fromAsync(
      linesOf(
        (async function* () {
          yield* bytes
        })(),
      ),
    )
  }

  test("a stream is split into the same lines whatever the size of its chunks", async () => {
    const text = 'a\n\n{"é":"日本"}\r\nlast'
    const whole = await readLines(text)
    expect(whole).toEqual(["a", "", '{"é":"日本"}\r', "last"])
    expect(
      await readLines(
        ...Buffer.from(text)
          .toString("latin1")
          .split("")
          .map((c) => [c.charCodeAt(0)]),
      ),
    ).toEqual(whole)
  })

  test("a final line break adds no empty line", async () => {
    expect(await readLines("")).toEqual([])
    expect(await readLines("a\n")).toEqual(["a"])
    expect(await readLines("\n")).toEqual([""])
  })

  test("a line that is not UTF-8 is replaced by U+FFFD", async () => {
    expect(await readLines("a\n", [0x22, 0xff, 0x22, 0x0a], "b")).toEqual(["a", "\uFFFD", "b"])
  })

  test("a line is truncated at 5,000,000 characters, so that memory stays bounded", async () => {
    const part = "x".repeat(1_000_000)
    const [line, next] = await readLines(...Array(20).fill(part), "\nnext")
    expect(line).toHaveLength(5_000_000)
    expect(next).toBe("next")
  })
})

test("a misspelt command is matched to the nearest command, and an unrelated word to no command", () => {
  const names = ["serve", "migrate", "key create", "key list"]
  expect([nearest("sevre", names), nearest("migrat", names), nearest("key lsit", names)]).toEqual([
    "serve",
    "migrate",
    "key list",
  ])
  expect([nearest("hello", names), nearest("", names), nearest("key", names)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})
