import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { hintsOf, ladder, ladderNext } from "../../../src/keywords/formulas/hint-ladder.ts"
import { normaliseTerm } from "../../../src/lib/term.ts"

const SEEDED = { seed: 20_250_901, numRuns: 1_000 }
const term = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 60 })
  .map(normaliseTerm)
  .filter((text) => text !== "")

describe("the ladder of prefixes for a keyword", () => {
  test("the ladder has at most twelve prefixes, from the whole keyword down to a single letter", () => {
    fc.assert(
      fc.property(term, (text) => {
        const rungs = ladder(text)
        expect(rungs[0]).toBe(text)
        expect(rungs.length).toBeLessThanOrEqual(12)
        expect(new Set(rungs).size).toBe(rungs.length)
        for (const rung of rungs) {
          expect(text.startsWith(rung)).toBe(true)
          expect(rung).toBe(normaliseTerm(rung))
        }
        expect(rungs).toEqual(rungs.toSorted((a, b) => b.length - a.length))
      }),
      SEEDED,
    )
  })

  test("the ladder counts graphemes as letters and ignores trailing blanks", () => {
    expect(ladder("a bc")).toEqual(["a bc", "a b", "a"])
    expect(ladder("日本語")).toEqual(["日本語", "日本", "日"])
    expect(ladder("👨‍👩‍👧é")).toEqual(["👨‍👩‍👧é", "👨‍👩‍👧"])
    expect(ladder("हिन्दी")[0]).toBe("हिन्दी")
    expect(ladder("")).toEqual([])
  })

  test("the ladder of a long keyword has twelve evenly spaced lengths", () => {
    const rungs = ladder("x".repeat(150))
    expect(rungs).toHaveLength(12)
    expect([rungs[0]?.length, rungs.at(-1)?.length]).toEqual([150, 1])
  })

  test("the ladder ends at the first prefix that does not suggest the keyword", () => {
    const store = (prefix: string) => (prefix.length >= 3 ? ["tea time", "teapot"] : ["tetris"])
    const answers = new Map<string, string[]>()
    const prefixes: string[] = []
    for (let prefix = ladderNext("tea time", answers); prefix; prefix = ladderNext("tea time", answers)) {
      prefixes.push(prefix)
      answers.set(prefix, store(prefix))
    }
    expect(prefixes).toEqual(["tea time", "tea tim", "tea ti", "tea t", "tea", "te"])
    expect(hintsOf("tea time", answers)).toMatchObject({
      prefixDepth: 3,
      suggested: true,
      finished: true,
      prefixes,
    })
  })

  test("a keyword that is not suggested takes one request", () => {
    const answers = new Map([["tea time", ["tea timer"]]])
    expect(ladderNext("tea time", answers)).toBeNull()
    expect(hintsOf("tea time", answers)).toEqual({
      hintCount: 1,
      prefixDepth: null,
      suggested: false,
      finished: true,
      prefixes: ["tea time"],
    })
  })

  test("a keyword that every prefix suggests has a depth of one letter", () => {
    const answers = new Map(ladder("tea").map((prefix) => [prefix, ["tea"]]))
    expect(ladderNext("tea", answers)).toBeNull()
    expect(hintsOf("tea", answers)).toMatchObject({ prefixDepth: 1 })
  })

  test("the depth is null while the ladder is unfinished", () => {
    const answers = new Map([["tea", ["tea"]]])
    expect(ladderNext("tea", answers)).toBe("te")
    expect(hintsOf("tea", answers)).toMatchObject({ prefixDepth: null, suggested: true, finished: false })
    expect(hintsOf("tea", new Map([["te", ["tea"]]]))).toBeUndefined()
  })
})

describe("the hint count", () => {
  const count = (text: string, suggested: string[]) => hintsOf(text, new Map([[text, suggested]]))?.hintCount

  test("the hint count counts each distinct suggestion that extends the keyword", () => {
    expect(count("habit", ["habit", "habit tracker", "habits", "my habit", "habit tracker"])).toBe(2)
    expect(count("habit", [])).toBe(0)
  })

  test("the hint count ignores case, dots on i and runs of white space", () => {
    expect(count("istanbul kart", ["İstanbul  Kart Yükle", "ISTANBUL KART", "ıstanbul kart"])).toBe(1)
    expect(count("日本語", ["日本語 辞書", "日本語入力", "辞書 日本語"])).toBe(2)
  })
})
