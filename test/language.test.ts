import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/**
 * Refuses patterns that the style guide forbids. They are hints: a text that passes must still be judged by reading it.
 */

const sources = filesOf("src")
const tests = filesOf("test")
const schema = filesOf("sql/schema", ".sql")
const pages = ["src", "sql", "test", "fixtures"].flatMap((folder) => filesOf(folder, ".md"))

describe("form", () => {
  test("no line is over 120 columns, has a formatter exception, or spreads a literal", () => {
    const found = [...sources, ...tests, ...schema].flatMap(({ path, text }) =>
      text.split("\n").flatMap((line, at) => {
        const isRefused = isLong(line) || isException(line) || hasSpread(line)
        return isRefused ? [`${path}:${at + 1}`] : []
      }),
    )
    expect(found).toEqual([])
  })

  test("no line of Markdown is over 120 columns, except lines of JSON and the tables of sources", () => {
    const found = pages.flatMap(({ path, text }) => {
      const isData = (line: string) => line.startsWith("{") || (line.startsWith("|") && path.endsWith("SOURCES.md"))
      const isRefused = (line: string) => isLong(line) && !isData(line)
      return text.split("\n").flatMap((line, at) => (isRefused(line) ? [`${path}:${at + 1}`] : []))
    })
    expect(found).toEqual([])
  })
})

describe("comments", () => {
  test("no comment begins with a preposition or a relative clause", () => {
    const opening = /^(?:Of|Beside|Besides|Whose|Whoever|What|Who|By|As|So|In|Where|Whom)\b/
    expect(commentsWith(opening)).toEqual([])
  })

  test("no comment contains a phrase that the style guide replaces", () => {
    const dialect =
      /\b(?:is told|tells of|says nothing|nobody knows|stands (?:in|for|beside)|whoever|beside whom|of which)\b/i
    expect(commentsWith(dialect)).toEqual([])
  })
})

describe("names", () => {
  test("no variable has a vague name such as asked, held or shown", () => {
    const participles =
      /\b(?:const|let) (?:asked|held|told|said|known|one|own|others|kept|sought|beside|besides|shown)\b/g
    const found = [...sources, ...tests].flatMap(({ path, text }) =>
      (text.match(participles) ?? []).map((name) => `${path} ${name}`),
    )
    expect(found).toEqual([])
  })

  test("no file, function or type has a generic name such as utils or helper", () => {
    const empty =
      /(?:^|[a-z])(?:Utils?|Helpers?|Managers?|Misc|Stuff)(?![a-z])|\b(?:utils?|helpers?|managers?|misc|stuff)\b/
    const found = sources.flatMap(({ path, text }) => {
      const names = [...text.matchAll(/(?:function|interface|type|class|const) \*?(\w+)/g)].map(
        ([, name]) => name as string,
      )
      return [path.replace(".ts", ""), ...names].filter((name) => empty.test(name)).map((name) => `${path} ${name}`)
    })
    expect(found).toEqual([])
  })
})

/** Returns the files below a folder with this ending, without generated types. */
function filesOf(folder: string, ending = ".ts"): { path: string; text: string }[] {
  const root = join(import.meta.dirname, "..", folder)
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending) && !name.endsWith(".d.ts"))
    .sort()
    .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(join(root, name), "utf8") }))
}

/** Measures columns rather than characters, because accents of Indic scripts take no column. */
function isLong(line: string): boolean {
  return line.length > 120 && Bun.stringWidth(line) > 120
}

function isException(line: string): boolean {
  return /biome-ignore\sformat/.test(line)
}

function hasSpread(line: string): boolean {
  return /\.\.\.\{ /.test(line)
}

function commentsWith(pattern: RegExp): string[] {
  return [...sources, ...tests].flatMap(({ path, text }) =>
    commentsOf(text)
      .filter((comment) => pattern.test(comment))
      .map((comment) => `${path}: ${comment}`),
  )
}

/** Returns each comment as one line of text, without its marks. */
function commentsOf(text: string): string[] {
  const blocks = [...text.matchAll(/\/\*\*?([\s\S]*?)\*\//g)].map(([, body]) =>
    (body as string).replace(/^\s*\* ?/gm, " "),
  )
  const inline = [...text.matchAll(/(?:^|\s)\/\/ (.*)$/gm)].map(([, body]) => body as string)
  return [...blocks, ...inline].map((comment) => comment.replace(/\s+/g, " ").trim())
}
