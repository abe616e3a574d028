import { beforeAll, describe, expect, test } from "bun:test"
import { csvRecords } from "../../src/lib/csv.ts"
import { dayErrors } from "../../src/ui/app/bar.ts"
import { chartFile } from "../../src/ui/app/chart.ts"
import type { Chart } from "../../src/ui/charts/chart.ts"
import { chartFigure } from "../../src/ui/charts/figure.ts"
import { browserOf } from "../access/sign-in/browser.ts"
import { freshDatabase } from "../database.ts"
import { openService } from "../service.ts"
import { HOSTILE, isFormula } from "./hostile.ts"
import { readMarkup } from "./markup.ts"

const APP = "/app/sample/apps/app_lumenjournal"

let open: (path: string) => Promise<{ status: number; text: string; headers: Headers }>

beforeAll(async () => {
  const service = openService({ sql: await freshDatabase() })
  open = (path) => browserOf(service).open(path)
})

const cells = (csv: string) => [...csvRecords(csv)].map(({ fields }) => fields)

describe("the bar under the tabs", () => {
  test("the links to other tabs keep the chosen days, the comparison and the ticked keywords", async () => {
    const query = "at=us-ios&from=2026-10-10&to=2026-10-20&vs=before&terms=journal&terms=daily+journal"
    const { text } = await open(`${APP}/ranks?${query}&page=3`)
    for (const tab of ["", "/reviews", "/charts"])
      expect(text).toContain(`href="${APP}${tab}?${query.replaceAll("&", "&amp;")}"`)
    // a link to a preset period removes the chosen days from the address
    expect(text).toContain(`?at=us-ios&amp;vs=before&amp;terms=journal&amp;terms=daily+journal&amp;page=3&amp;days=90"`)
    expect(text).toContain('<option value="before" selected="">The period before</option>')
  })

  test("a chart shows exactly the chosen days, with a line for the previous period", async () => {
    const { text } = await open(`${APP}/ranks?terms=journal&from=2026-10-10&to=2026-10-12&vs=before`)
    const days = [...text.matchAll(/<tr><th scope="row"><time datetime="([^"]+)"/g)].map(([, day]) => day)
    expect(days).toEqual(["2026-10-12", "2026-10-11", "2026-10-10"])
    expect(text).toContain("<bdi>journal, 3 days before</bdi>")
  })

  test("an invalid day selects the default period, and the date field explains the allowed format", async () => {
    const { status, text } = await open(`${APP}/ranks?terms=journal&from=2026-02-30`)
    expect(status).toBe(200)
    expect(text).toContain("“2026-02-30” is not a date. Write year, month and day, for example 2026-11-02.")
    expect(text).toMatch(/<input type="date" name="from"[^>]* aria-invalid="true"/)
    expect(text).toMatch(/days=30" aria-current="true"/)
  })

  test("each invalid range of days gets a message that explains the allowed range", () => {
    const today = "2026-11-02"
    const errors = (from: string, to: string) => dayErrors({ from, to, today })
    expect(errors("", "")).toEqual({})
    expect(errors("2026-11-02", "")).toEqual({})
    expect(errors("2025-11-02", "2026-11-02")).toEqual({})
    expect(errors("", "2026-11-01")).toEqual({ from: "Choose the first day as well." })
    expect(errors("2026-11-03", "")).toEqual({ from: "This day lies in the future. Today is 2026-11-02 (UTC)." })
    expect(errors("2026-11-01", "2026-11-03").to).toContain("The last day is at most today, 2026-11-02 (UTC).")
    expect(errors("2026-11-02", "2026-11-01").from).toContain("The first day is after the last, 2026-11-01. Swap them")
    expect(errors("2025-11-01", "2026-11-02").from).toContain("You chose 367 days of at most 366")
    expect(Object.keys(errors("yesterday", "2026-2-1"))).toEqual(["from", "to"])
  })
})

describe("the CSV of a chart", () => {
  test("the CSV has exactly the days, lines, states, sources and events that the chart shows", async () => {
    const { status, text, headers } = await open(`${APP}/ranks?terms=journal&from=2026-10-13&to=2026-10-17&csv=ranks`)
    expect(status).toBe(200)
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present")
    expect(headers.get("content-disposition")).toBe('attachment; filename="ranks-2026-10-13-2026-10-17.csv"')
    const by = "App Store search on the web"
    expect(cells(text)).toEqual([
      ["day", "line", "state", "value", "source", "events"],
      ["2026-10-13", "journal", "measured", "6", by, "Featured: By the editors “Apps for a Calmer Autumn”"],
      ["2026-10-14", "journal", "measured", "6", by, ""],
      ["2026-10-15", "journal", "measured", "7", by, "Listing change: Event ends “Evening Pages Challenge”"],
      ["2026-10-16", "journal", "measured", "6", by, ""],
      ["2026-10-17", "journal", "not measured", "", "", ""],
    ])
  })

  test("the page links to the CSV of its chart, and a CSV address with an unknown chart shows the page", async () => {
    const { text } = await open(`${APP}/ranks?terms=journal&days=90`)
    expect(text).toContain(`href="${APP}/ranks?terms=journal&amp;days=90&amp;csv=ranks"`)
    expect((await open(`${APP}/ranks?terms=journal&csv=none`)).text).toContain("<h2>Rank of “journal”</h2>")
  })

  const hostile: Chart = {
    id: "hostile",
    title: "<script>alert(1)</script>",
    from: "2026-10-13",
    to: "2026-10-14",
    lines: HOSTILE.map((name) => ({ name, points: [["2026-10-13", 4]], sources: [] })),
    marks: HOSTILE.map((text) => ({ day: "2026-10-14", kind: "release", text })),
  }

  test("the names of lines and events are neutralised as formulas in the CSV", () => {
    const texts = cells(chartFile(hostile).csv).flatMap((fields) =>
      fields!.filter((field) => Number.isNaN(Number(field))),
    )
    expect(texts.length).toBeGreaterThan(HOSTILE.length * 2)
    expect(texts.filter(isFormula)).toEqual([])
  })

  test("a hostile line name is escaped in the chart's markup", () => {
    const name = `"><img src=x onerror=alert(1)>'&`
    const { text } = chartFigure({ ...hostile, lines: [{ name, points: [["2026-10-13", null]] }] })
    const { unbalanced, bare, tags } = readMarkup(text)
    expect([unbalanced, bare, tags.has("img"), tags.has("script")]).toEqual([[], [], false, false])
  })
})

test("the page of top charts has the period bar, release marks and a CSV", async () => {
  const { text } = await open(`${APP}/charts`)
  expect(text).toContain('<nav class="periods" aria-label="Period">')
  expect(text).toContain("Release: Version 5.3.0")
  const [, link = ""] = /href="([^"]*csv=c0)"/.exec(text) ?? []
  const rows = cells((await open(link.replaceAll("&amp;", "&"))).text)
  expect(rows[0]).toEqual(["day", "line", "state", "value", "source", "events"])
  expect(rows.length).toBeGreaterThan(10)
})

test("a page without charts keeps the chosen days in its links", async () => {
  const { text } = await open(`${APP}/page?from=2026-10-10&to=2026-10-20`)
  expect(text).toContain(`href="${APP}/charts?from=2026-10-10&amp;to=2026-10-20"`)
})
