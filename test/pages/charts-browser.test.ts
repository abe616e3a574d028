import { describe, expect, setDefaultTimeout } from "bun:test"
import { readFileSync } from "node:fs"
import { csvRecords } from "../../src/lib/csv.ts"
import { freshDatabase } from "../database.ts"
import { afterSlow, beforeSlow, cases, slow } from "../long.ts"
import { openService } from "../service.ts"
import { appPages, SAMPLE_PAGES } from "./app-scene.ts"
import { chromiumBinary, openTab, type Tab } from "./browser.ts"

setDefaultTimeout(120_000)

const binary = chromiumBinary()
const POSITIONS = 61
const TERMS = ["journal", "shadow work prompts"]
const RANKS = "/app/sample/apps/app_lumenjournal/ranks?terms=journal&terms=shadow+work+prompts&days=90"

interface Sample {
  answer: { keywords: { term: string; series: [string, number | null][] }[] }
}

const sample = (name: string): Sample =>
  JSON.parse(readFileSync(`${import.meta.dirname}/../../fixtures/pages/${name}.json`, "utf8"))

/** The 90 days up to the sample's last, oldest first. */
const DAYS = Array.from({ length: 90 }, (_, at) => {
  return new Date(Date.UTC(2026, 10, 2) - (89 - at) * 86_400_000).toISOString().slice(0, 10)
})

const APP = "app_lumenjournal"

/**
 * All line charts except that of ranks. A chart's text shows the value of the CSV times a factor, such as 100 for a
 * share in percent.
 */
const LINE_CHARTS = [
  { path: `/app/sample/apps/${APP}/reviews`, id: "rating", times: 1 },
  { path: `/app/sample/apps/${APP}/assistants`, id: "shares", times: 100 },
  { path: `/app/sample/apps/${APP}/visibility`, id: "visibility", times: 1 },
  { path: `/app/sample/apps/${APP}/charts`, id: "c0", times: 1 },
  { path: `/app/sample/apps/${APP}/revenue`, id: "downloads", times: 1 },
  { path: `/app/sample/apps/${APP}/revenue`, id: "proceeds", times: 1 },
  { path: "/app/sample/market/charts", id: "history", times: 1 },
]

interface FileDay {
  day: string
  lines: [name: string, value: string][]
}

/** The values of a day in the stored sample, as the chart must show them. */
const shownOn = (day: string, file = "list_rank_lines") =>
  TERMS.map((term) => {
    const series = new Map(sample(file).answer.keywords.find((keyword) => keyword.term === term)!.series)
    const rank = series.get(day)
    return rank === undefined
      ? `${term} not measured`
      : `${term} ${rank === null ? "absent" : rank} App Store search on the web`
  })

describe.skipIf(binary === null)("charts in a browser", () => {
  let server: ReturnType<typeof Bun.serve>
  let tab: Tab
  /** The plot in the window. */
  let plot: { left: number; top: number; width: number; height: number }

  beforeSlow(async () => {
    const service = openService({ sql: await freshDatabase() })
    server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => service.app.fetch(request, "127.0.0.1") })
    tab = await openTab(binary as string)
  })
  afterSlow(async () => {
    await tab.close()
    await server.stop(true)
  })

  const show = async (width: number, path = RANKS, id = "ranks") => {
    await tab.show(width, 900)
    await tab.open(`${server.url.origin}${path}`)
    plot = await tab.value(`(() => {
      const plot = document.querySelector("figure:has(#${id}-data) .plot")
      plot.scrollIntoView({ block: "center" })
      return plot.getBoundingClientRect().toJSON()
    })()`)
  }

  /** The day of the crosshair, with the name, value and source of each line. */
  const shownDay = () =>
    tab.value<{ day: string; lines: string[] } | null>(`(() => {
      const box = document.querySelector(".cross")
      if (box.hidden) return null
      const shared = box.querySelector(".by")?.textContent
      return { day: box.dataset.day, lines: [...box.querySelectorAll("li:has(strong)")].map((item) => {
        const parts = ["bdi", "strong", "small"].map((part) => item.querySelector(part)?.textContent)
        const [name, state, by = shared] = parts
        return [name, state, state === "not measured" ? "" : by].filter(Boolean).join(" ")
      }) }
    })()`)

  /** The day whose place on the axis is nearest. The first and the last day are 8 thousandths from the edges. */
  const nearest = (part: number, length = DAYS.length) => {
    const distance = (at: number) => Math.abs(0.008 + (0.984 * at) / (length - 1) - part)
    return Array.from({ length }).reduce<number>((best, _, at) => (distance(at) < distance(best) ? at : best), 0)
  }

  const PARTS = Array.from({ length: POSITIONS }, (_, at) => (at + 0.5) / POSITIONS)

  slow("the crosshair shows every line's value of the day at 61 mouse positions", async () => {
    await show(1_280)
    for (const [at, part] of PARTS.entries()) {
      // the height varies, because a reader need not aim at the line
      await tab.point(
        plot.left + part * plot.width,
        plot.top + plot.height * (0.1 + 0.8 * ((at * 7) % 10) * 0.1),
        "mouse",
      )
      const day = DAYS[nearest(part)]!
      expect(await shownDay()).toEqual({ day, lines: shownOn(day) })
    }
    await tab.point(plot.left + 10, plot.top - 60, "mouse")
    expect(await shownDay()).toBeNull()
  })

  slow("the crosshair shows every line's value of the day at 61 touch positions", async () => {
    await show(390)
    for (const part of PARTS) {
      await tab.point(plot.left + part * plot.width, plot.top + plot.height / 2, "finger")
      const day = DAYS[nearest(part)]!
      expect(await shownDay()).toEqual({ day, lines: shownOn(day) })
    }
    await tab.point(plot.left + 10, plot.top - 60, "finger")
    expect(await shownDay()).toBeNull()
  })

  slow("Home, End and the arrow keys reach every day, and a live region announces the day's values", async () => {
    await show(1_280)
    await tab.value("document.querySelector('.plot').focus()")
    const announced = () => tab.value<string>("document.querySelector('[aria-live=polite]').textContent")
    await tab.press("Home")
    for (const [at, day] of DAYS.slice(0, POSITIONS).entries()) {
      if (at > 0) await tab.press("ArrowRight")
      expect(await shownDay()).toEqual({ day, lines: shownOn(day) })
      const spoken = await announced()
      for (const line of shownOn(day)) expect(spoken.replaceAll(",", "")).toContain(line)
    }
    await tab.press("End")
    expect((await shownDay())?.day).toBe(DAYS.at(-1)!)
    await tab.press("ArrowLeft")
    expect((await shownDay())?.day).toBe(DAYS.at(-2)!)
  })

  /**
   * The days of a chart's CSV, oldest first, each with the value per line. A value is empty if the day was not
   * measured, or has no value.
   */
  async function readFile(path: string, id: string): Promise<FileDay[]> {
    const address = `${server.url.origin}${path}${path.includes("?") ? "&" : "?"}csv=${id}`
    const records = [...csvRecords(await (await fetch(address)).text())].map(({ fields }) => fields!)
    const byDay = Map.groupBy(records.slice(1), ([day]) => day as string)
    return [...byDay].map(([day, lines]) => ({ day, lines: lines.map(([, name, , value]) => [name!, value!]) }))
  }

  /** The day of a chart's crosshair, with the name of each line and the figure in its text. */
  const shownIn = (id: string) =>
    tab.value<{ day: string; lines: [string, string][] }>(`(() => {
      const box = document.querySelector("figure:has(#${id}-data) .cross")
      return { day: box.dataset.day, lines: [...box.querySelectorAll("li:has(strong)")].map((item) => [
        item.querySelector("bdi").textContent,
        item.querySelector("strong").textContent.replace(/[^0-9.]/g, ""),
      ]) }
    })()`)

  // all charts share one script; the short run tests one chart with notes, and one with unmeasured days
  for (const { path, id, times } of LINE_CHARTS.slice(0, cases(2, LINE_CHARTS.length)))
    slow(`chart ${id} of ${path} shows every line's values by mouse, touch and keyboard`, async () => {
      const days = await readFile(path, id)
      const check = async (expected: FileDay) => {
        const { day, lines } = await shownIn(id)
        expect([day, lines.map(([name]) => name)]).toEqual([expected.day, expected.lines.map(([name]) => name)])
        for (const [at, [, value]] of expected.lines.entries()) {
          const text = lines[at]![1]
          expect([day, text === ""]).toEqual([day, value === ""])
          // texts have at least one decimal, so a value is off by at most 0.05
          expect(Math.abs(Number(text) - Number(value) * times)).toBeLessThan(0.051)
        }
      }
      for (const by of ["mouse", "finger"] as const) {
        await show(by === "mouse" ? 1_280 : 390, path, id)
        for (const part of PARTS.map((part) => part - 0.1 / POSITIONS)) {
          await tab.point(plot.left + part * plot.width, plot.top + plot.height / 2, by)
          await check(days[nearest(part, days.length)]!)
        }
      }
      await tab.value(`document.querySelector("figure:has(#${id}-data) .plot").focus()`)
      await tab.press("End")
      for (const day of days.slice(-POSITIONS).toReversed()) {
        await check(day)
        await tab.press("ArrowLeft")
      }
    })

  slow("every line chart of the sample has a CSV and is in this file's list of tested charts", async () => {
    const found = new Set<string>()
    for (const page of [
      ...SAMPLE_PAGES.map((path) => `/app/sample${path}`),
      ...appPages("/app/sample", APP, "journal"),
    ]) {
      const text = await (await fetch(`${server.url.origin}${page}`)).text()
      for (const figure of text.match(/<figure class="chart" data-chart="lines"[\s\S]*?<\/figure>/g) ?? []) {
        const id = /id="([a-z0-9-]+)-data"/.exec(figure)?.[1] as string
        expect([page, id, figure.includes(`csv=${id}`)]).toEqual([page, id, true])
        found.add(id.replace(/\d+$/, ""))
      }
    }
    const tested = LINE_CHARTS.map(({ id }) => id.replace(/\d+$/, ""))
    expect([...found].filter((id) => !["ranks", ...tested].includes(id))).toEqual([])
  })

  slow("the crosshair shows the event of a day and leaves out hidden lines", async () => {
    await show(1_280)
    const at = DAYS.indexOf("2026-10-13")
    const x = plot.left + plot.width * (0.008 + (0.984 * at) / (DAYS.length - 1))
    await tab.point(x, plot.top + 20, "mouse")
    expect(await tab.value("document.querySelector('.cross .event').textContent")).toBe(
      "Featured: By the editors “Apps for a Calmer Autumn”",
    )
    await tab.value("document.querySelector('.legend button').click()")
    await tab.point(x + 60, plot.top + 20, "mouse")
    expect((await shownDay())?.lines.map((line) => line.startsWith(TERMS[0]!))).toEqual([false])
  })
})
