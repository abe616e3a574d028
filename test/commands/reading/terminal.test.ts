import { expect, test } from "bun:test"
import { fitted, table, wrapped } from "../../../src/commands/cli/show.ts"

test("columns are aligned by displayed width, with wide characters and colours", () => {
  const [head, wide, plain] = table(
    ["APP", "RANK"],
    [
      ["Block Blast！", 1],
      ["\u001b[32mTide\u001b[39m", 2],
    ],
  ) as [string, string, string]
  const at = (line: string, text: string) => Bun.stringWidth(line.slice(0, line.lastIndexOf(text)))
  expect([at(wide, "1"), at(plain, "2")]).toEqual([at(head, "RANK"), at(head, "RANK")])
})

test("a line is truncated to the terminal's width between characters, and is not truncated in a pipe", () => {
  expect(fitted("a long line", undefined)).toBe("a long line")
  expect(fitted("a long line", 6)).toBe("a lon…")
  expect(fitted("吹雪吹雪", 6)).toBe("吹雪…")
  expect(fitted("👩‍👩‍👧 family", 4)).toBe("👩‍👩‍👧 …")
  expect(fitted("\u001b[31mvery bad\u001b[39m news", 6)).toBe("\u001b[31mvery \u001b[39m…")
  for (const columns of [1, 2, 5, 9])
    expect(Bun.stringWidth(fitted("吹雪 \u001b[31m吹雪\u001b[39m", columns))).toBeLessThanOrEqual(columns)
})

test("a sentence is wrapped between words without losing any text", () => {
  const line = '26 Nov  Lumen Journal  ▼ "daily journal" fell from 4 to 7 in the US App Store; Softly passed you'
  const lines = wrapped(line, 40)
  for (const part of lines) expect(Bun.stringWidth(part)).toBeLessThanOrEqual(40)
  expect(lines.map((part) => part.trim()).join(" ")).toBe(line)
  expect(lines[1]).toStartWith("    ")
  expect(wrapped(line, undefined)).toEqual([line])
  expect(wrapped("吹雪吹雪吹雪 吹雪", 8)).toEqual(["吹雪吹雪吹雪", "    吹雪"])
})
