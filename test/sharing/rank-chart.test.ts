import { describe, expect, test } from "bun:test"
import { rankChart } from "../../src/sharing/share/rank-chart.ts"
import type { SharedPoint } from "../../src/sharing/share/report.ts"
import { randomOf } from "../measuring/record/listed.ts"
import { readMarkup } from "../pages/markup.ts"

const FROM = "2026-01-01"
const day = (after: number) => new Date(Date.parse(FROM) + after * 86_400_000).toISOString().slice(0, 10)
const at = (after: number, rank: number | null, source: SharedPoint[2] = "import"): SharedPoint => [
  day(after),
  rank,
  source,
]

function drawn(points: SharedPoint[], days = 30) {
  const about = { id: "c", title: "Rank of tea", description: "In words.", from: FROM, to: day(days - 1), points }
  const { text } = rankChart({ ...about, dayLabel: (of) => of.slice(5) })
  const pathOf = (name: string) => new RegExp(`class="${name}" d="([^"]*)"`).exec(text)?.[1] as string
  const spots = (path: string) =>
    [...path.matchAll(/M(-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => ({ x: Number(x), y: Number(y) }))
  const lines = [...pathOf("line").matchAll(/M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)/g)].map((found) =>
    found.slice(1).map(Number),
  )
  const [, top, height] = /class="band" x="\d+" y="(\d+)" width="\d+" height="(\d+)"/.exec(text) as unknown as string[]
  const band = { top: Number(top), bottom: Number(top) + Number(height) }
  return { text, lines, dots: spots(pathOf("dots")), squares: spots(pathOf("gone")), band }
}

describe("a chart of ranks", () => {
  test("a chart places better ranks higher and later days further right, within its frame", () => {
    const random = randomOf(11)
    for (let round = 0; round < 500; round++) {
      const worst = 1 + Math.floor(random() * 250)
      const points = Array.from({ length: 30 }, (_, i) => at(i, 1 + Math.floor(random() * worst)))
      const { dots, band } = drawn(points)
      expect(dots).toHaveLength(30)
      for (const [i, dot] of dots.entries()) {
        const before = dots[i - 1]
        if (before) expect(dot.x).toBeGreaterThan(before.x)
        for (const [j, other] of dots.entries()) {
          const better = (points[i]![1] as number) - (points[j]![1] as number)
          if (better < 0) expect(dot.y).toBeLessThan(other.y)
          if (better === 0) expect(dot.y).toBe(other.y)
        }
        expect(dot.x >= 46 && dot.x <= 332 && dot.y >= 10 && dot.y < band.top).toBe(true)
      }
    }
  })

  test("a chart connects consecutive days, except across a gap, an absence or a change of source", () => {
    const points = [
      at(0, 5),
      at(1, 4),
      at(3, 4),
      at(4, null),
      at(5, 3),
      at(6, 2, "apple-web-search"),
      at(7, 1, "apple-web-search"),
    ]
    const { lines, dots, squares } = drawn(points)
    expect(dots).toHaveLength(6)
    expect(squares).toHaveLength(1)
    expect(lines).toEqual([
      [dots[0]!.x, dots[0]!.y, dots[1]!.x, dots[1]!.y],
      [dots[4]!.x, dots[4]!.y, dots[5]!.x, dots[5]!.y],
    ])
  })

  test("a chart shows an absent day in the band below the ranks and leaves out an unmeasured day", () => {
    const { dots, squares, lines, band } = drawn([at(2, null), at(9, null)])
    expect([dots, lines]).toEqual([[], []])
    expect(squares).toHaveLength(2)
    for (const { y } of squares) expect(y > band.top && y + 4 < band.bottom).toBe(true)
    const empty = drawn([])
    expect([empty.dots, empty.squares, empty.lines]).toEqual([[], [], []])
  })

  test("a chart's axis starts with 1 and ends with a round number at or above the worst rank", () => {
    for (const [worst, lowest] of [
      [1, 10],
      [10, 10],
      [11, 20],
      [51, 100],
      [101, 150],
      [201, 250],
      [250, 250],
    ] as const) {
      const { text } = drawn([at(0, worst)])
      const labels = [...text.matchAll(/<text class="end"[^>]* y="([\d.]+)">(\d+)</g)].map(([, y, rank]) => ({
        y: Number(y),
        rank: Number(rank),
      }))
      expect(labels.map(({ rank }) => rank)).toEqual([1, Math.round(lowest / 2), lowest])
      expect(labels[0]!.y < labels[1]!.y && labels[1]!.y < labels[2]!.y).toBe(true)
    }
  })

  test("a chart has a title, a description and valid markup, and escapes its texts", () => {
    const hostile = rankChart({
      id: "x",
      title: "</title><script>",
      description: `"&<`,
      from: FROM,
      to: day(1),
      points: [],
      dayLabel: () => "<b>",
    })
    for (const { text } of [hostile, drawn([at(0, 1), at(1, null)])]) {
      const { unbalanced, bare, tags } = readMarkup(text)
      expect([unbalanced, bare, tags.has("script")]).toEqual([[], [], false])
      expect(text).toMatch(/role="img" aria-labelledby="(\w)-t \1-d">\n<title id="\1-t">.*\n<desc id="\1-d">/)
      expect(text).not.toContain("NaN")
    }
  })

  test("a chart of a single day stays within its frame", () => {
    const { dots } = drawn([at(0, 1)], 1)
    expect(dots).toHaveLength(1)
    expect(dots[0]!.x).toBeGreaterThan(46)
  })
})
