import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/**
 * Counts patterns that the style guide refuses. A ceiling is the count of today and only falls: whoever lowers a count
 * lowers its ceiling. The counts are hints; a text is judged by reading it.
 */

const CEILINGS = {
  longLines: 9999,
  formatterExceptions: 6,
  literalSpreads: 25,
  openings: 14,
  dialect: 5,
  participles: 23,
}

const sources = filesOf("src")
const tests = filesOf("test")
const lines = sources.flatMap(({ text }) => text.split("\n"))
const comments = sources.flatMap(({ text }) => commentsOf(text))

describe("form", () => {
  test("lines over 120 columns do not increase", () => {
    atMost(lines.filter(isLong).length, CEILINGS.longLines)
  })

  test("formatter exceptions do not increase", () => {
    atMost(lines.filter(isException).length, CEILINGS.formatterExceptions)
  })

  test("spreads of literals do not increase", () => {
    atMost(lines.filter(hasSpread).length, CEILINGS.literalSpreads)
  })
})

test("tests have no long lines, formatter exceptions or spreads of literals", () => {
  const found = tests.flatMap(({ file, text }) =>
    text.split("\n").flatMap((line, at) => {
      const isRefused = isLong(line) || isException(line) || hasSpread(line)
      return isRefused ? [`${file}:${at + 1}`] : []
    }),
  )
  expect(found).toEqual([])
})

describe("comments", () => {
  test("comments that begin with a preposition or a relative clause do not increase", () => {
    const opening = /^(?:Of|Beside|Besides|Whose|Whoever|What|Who|By|As|So|In|Where|Whom)\b/
    atMost(comments.filter((comment) => opening.test(comment)).length, CEILINGS.openings)
  })

  test("comments with the words of the old dialect do not increase", () => {
    const dialect =
      /\b(?:is told|tells of|says nothing|nobody knows|stands (?:in|for|beside)|whoever|beside whom|of which)\b/i
    atMost(comments.filter((comment) => dialect.test(comment)).length, CEILINGS.dialect)
  })
})

describe("names", () => {
  test("variables named by a participle do not increase", () => {
    const participles =
      /\b(?:const|let) (?:asked|held|told|said|known|one|own|others|kept|sought|beside|besides|shown)\b/g
    const count = sources.reduce((sum, { text }) => sum + (text.match(participles)?.length ?? 0), 0)
    atMost(count, CEILINGS.participles)
  })

  test("no file, function or type has a name that fits everything", () => {
    const empty =
      /(?:^|[a-z])(?:Utils?|Helpers?|Managers?|Misc|Stuff)(?![a-z])|\b(?:utils?|helpers?|managers?|misc|stuff)\b/
    const found = sources.flatMap(({ file, text }) => {
      const names = [...text.matchAll(/(?:function|interface|type|class|const) \*?(\w+)/g)].map(
        ([, name]) => name as string,
      )
      return [file.replace(".ts", ""), ...names].filter((name) => empty.test(name)).map((name) => `${file} ${name}`)
    })
    expect(found).toEqual([])
  })
})

/** Returns the TypeScript files below a folder, without generated types. */
function filesOf(folder: string): { file: string; text: string }[] {
  const root = join(import.meta.dirname, "..", folder)
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .sort()
    .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }))
}

/** Measures columns, too: accents of Indic scripts take none. */
function isLong(line: string): boolean {
  return line.length > 120 && Bun.stringWidth(line) > 120
}

function isException(line: string): boolean {
  return /biome-ignore\sformat/.test(line)
}

function hasSpread(line: string): boolean {
  return /\.\.\.\{ /.test(line)
}

function atMost(count: number, ceiling: number): void {
  expect(count).toBeLessThanOrEqual(ceiling)
}

/** Each comment as one line of text, without its marks. */
function commentsOf(text: string): string[] {
  const blocks = [...text.matchAll(/\/\*\*?([\s\S]*?)\*\//g)].map(([, body]) =>
    (body as string).replace(/^\s*\* ?/gm, " "),
  )
  const inline = [...text.matchAll(/(?:^|\s)\/\/ (.*)$/gm)].map(([, body]) => body as string)
  return [...blocks, ...inline].map((comment) => comment.replace(/\s+/g, " ").trim())
}
