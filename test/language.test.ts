import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/**
 * Counts patterns that the style guide refuses. A ceiling is the count of today and only falls: whoever lowers a count
 * lowers its ceiling. The counts are hints; a text is judged by reading it.
 */

const CEILINGS = {
  longLines: 920,
  formatterExceptions: 52,
  literalSpreads: 198,
  openings: 14,
  dialect: 5,
  participles: 66,
}

const root = join(import.meta.dirname, "..", "src")
const sources = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .sort()
  .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }))
const lines = sources.flatMap(({ text }) => text.split("\n"))
const comments = sources.flatMap(({ text }) => commentsOf(text))

describe("form", () => {
  test("lines over 120 columns do not increase", () => {
    // accents of Indic scripts take no column, and ideographs take two
    const isLong = (line: string) => line.length > 120 && Bun.stringWidth(line) > 120
    atMost(lines.filter(isLong).length, CEILINGS.longLines)
  })

  test("formatter exceptions do not increase", () => {
    atMost(lines.filter((line) => line.includes("biome-ignore format")).length, CEILINGS.formatterExceptions)
  })

  test("spreads of literals do not increase", () => {
    atMost(lines.filter((line) => /\.\.\.\{ /.test(line)).length, CEILINGS.literalSpreads)
  })
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
