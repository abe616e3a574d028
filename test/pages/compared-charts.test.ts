import { expect, setDefaultTimeout } from "bun:test"
import { listDemoApps } from "../../src/demo/demo.ts"
import { INVENTED_APP } from "../../src/demo/invented/world.ts"
import { loadDemoInto } from "../../src/demo/load-at-start.ts"
import { csvRecords } from "../../src/lib/csv.ts"
import { addDays, dayOf } from "../../src/lib/days.ts"
import { recording } from "../../src/recording.ts"
import type { Browser } from "../access/sign-in/browser.ts"
import { freshDatabase } from "../database.ts"
import { beforeSlow, isLeftOut, slow } from "../long.ts"
import { openService } from "../service.ts"
import { ownerOf } from "./app-scene.ts"

setDefaultTimeout(120_000)

const TODAY = dayOf(new Date())
const LENGTH = 7

let owner: Browser
let base: string

beforeSlow(async () => {
  const service = openService({ sql: await freshDatabase(), now: () => new Date() })
  const workspace = await service.workspace({ plan: "enterprise" })
  await loadDemoInto(recording, service.sql, workspace, { days: isLeftOut ? 17 : 60 })
  const invented = (await listDemoApps(service.sql, workspace)).find(({ iosId }) => iosId === INVENTED_APP.id)!
  owner = await ownerOf(service, workspace)
  base = `/app/apps/${invented.id}`
})

/** The rows of a chart's CSV, by line. */
async function linesOf(path: string, query: Record<string, string>, chart: string) {
  const { text } = await owner.open(`${base}/${path}?${new URLSearchParams({ ...query, csv: chart })}`)
  const rows = [...csvRecords(text)].slice(1).map(({ fields }) => fields as string[])
  const byLine = Map.groupBy(rows, ([, line]) => line as string)
  return new Map([...byLine].map(([line, rows]) => [line, rows.map(([day, , state, value]) => [day, state, value])]))
}

const CHARTS = [
  ["reviews", "rating", "Average stars"],
  ["revenue", "downloads", "Downloads per day"],
  ["revenue", "proceeds", "Proceeds per day, USD"],
] as const

for (const [path, chart, line] of CHARTS)
  slow(`the chart ${chart} draws the previous period's values over the chosen days`, async () => {
    const to = addDays(TODAY, -2)
    const from = addDays(to, 1 - LENGTH)
    const before = { from: addDays(from, -LENGTH), to: addDays(from, -1) }
    const ownLines = await linesOf(path, { ...before }, chart)
    const compared = await linesOf(path, { from, to, vs: "before" }, chart)
    expect([...compared.keys()]).toEqual([line, `${LENGTH} days before`])
    expect(compared.get(line)).toEqual((await linesOf(path, { from, to }, chart)).get(line)!)
    const moved = ownLines.get(line)!.map(([day, ...rest]) => [addDays(day!, LENGTH), ...rest])
    expect(compared.get(`${LENGTH} days before`)).toEqual(moved)
    expect(moved.filter(([, state]) => state === "measured").length).toBeGreaterThan(4)
  })

slow("the rating chart shows the average of the reviews of seven days for each day", async () => {
  const to = addDays(TODAY, -3)
  const byDay = await owner.open(`${base}/reviews?${new URLSearchParams({ from: addDays(to, -6), to, as: "csv" })}`)
  const stars = [...csvRecords(byDay.text)].slice(1).map(({ fields }) => Number(fields![2]))
  expect(stars.length).toBeGreaterThan(0)
  const average = stars.reduce((sum, rating) => sum + rating, 0) / stars.length
  const rating = await linesOf("reviews", { from: to, to }, "rating")
  expect(Number(rating.get("Average stars")![0]![2])).toBeCloseTo(average, 2)
})

slow("every chart page except the page of top charts offers the comparison with the previous period", async () => {
  for (const path of ["reviews", "revenue", "visibility", "ranks?terms=x", "charts"]) {
    const { text } = await owner.open(`${base}/${path}`)
    const hasComparison = path !== "charts"
    expect([path, text.includes('<option value="before">The period before')]).toEqual([path, hasComparison])
  }
  const { text } = await owner.open(`${base}/reviews?days=30`)
  expect(text).toMatch(/<figure class="chart" data-chart="lines"[\s\S]*?<th scope="col" data-events="">Events/)
})
