import { expect, setDefaultTimeout } from "bun:test"
import { addDays } from "../../../src/lib/days.ts"
import { freshDatabase } from "../../database.ts"
import { beforeSlow, slow } from "../../long.ts"
import { listed } from "../../measuring/record/listed.ts"
import { record } from "../../record.ts"
import { playFacts } from "./facts-scene.ts"

setDefaultTimeout(120_000)

const APP = "com.tea"
const COUNTRIES = ["us", "de", "fr", "jp", "ca", "it"]
/** The first day of the files, and the day on which us gets new screenshots. */
const FIRST = "2026-01-01"
const CHANGED = "2026-10-10"
const LAST = "2026-10-31"

type Scene = Awaited<ReturnType<typeof playFacts>>
let scene: Scene
const NOW = new Date("2026-11-10T12:00:00Z")

/** Returns the visitors of a storefront on a day: 400 or more, with a weekly pattern, always the same. */
const visitorsOn = (place: number, country: number) =>
  400 + 60 * country + 25 * (place % 7) + ((place * (country + 3)) % 11)

/** Returns how many visitors install the app: half of them, and in us three quarters after the change. */
const acquiredOn = (place: number, country: number, day: string) =>
  Math.round(visitorsOn(place, country) * (country === 0 && day > CHANGED ? 0.75 : 0.5)) + ((place * (country + 2)) % 3)

const MONTHS = ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10"].map((month) => `2026-${month}`)

interface Row {
  day: string
  country: string
  visitors: number
  acquired: number
}

function rowsOf(month: string): Row[] {
  const rows: Row[] = []
  for (let place = 0, day = FIRST; day <= LAST; day = addDays(FIRST, ++place)) {
    if (!day.startsWith(month)) continue
    for (const [at, country] of COUNTRIES.entries())
      rows.push({ day, country, visitors: visitorsOn(place, at), acquired: acquiredOn(place, at, day) })
  }
  return rows
}

const monthOf = (month: string) => month.replace("-", "")

/**
 * Stores files of the store page and of installs, which are twice the installs by visitors. `to` is the last day in the
 * files.
 */
async function storeCounts(month: string, to = LAST): Promise<void> {
  const rows = rowsOf(month).filter(({ day }) => day <= to)
  const updated = `${addDays(to < `${month}-31` ? to : `${month}-28`, 4)}T00:00:00Z`
  const visits = rows.map(
    ({ day, country, visitors, acquired }) => `${day},${APP},${country.toUpperCase()},${acquired},${visitors}`,
  )
  await scene.store(
    `stats/store_performance/store_performance_${APP}_${monthOf(month)}_country.csv`,
    ["Date,Package name,Country / Region,Store listing acquisitions,Store listing visitors", ...visits].join("\n"),
    updated,
  )
  const installs = rows.map(({ day, country, acquired }) => `${day},${APP},${country.toUpperCase()},${2 * acquired}`)
  await scene.store(
    `stats/installs/installs_${APP}_${monthOf(month)}_country.csv`,
    ["Date,Package Name,Country,Daily User Installs", ...installs].join("\n"),
    updated,
  )
}

beforeSlow(async () => {
  const sql = await freshDatabase()
  scene = await playFacts(sql, { app: APP, now: NOW, countries: COUNTRIES })
  const page = (day: string, storefront: string) => {
    const isNew = storefront === "us" && day >= CHANGED
    const screenshots = { phone: [`https://play-lh.googleusercontent.com/${isNew ? "new" : "old"}`], pad: [] }
    const place = { source: "play-details", platform: "android", id: APP, storefront }
    const ofOtherStore = { similar: undefined, moreByDeveloper: undefined, events: undefined, editorial: undefined }
    return listed(`${day}T12:00:00Z`, { ...ofOtherStore, screenshots } as never, place as never)
  }
  const days = ["2026-08-01", addDays(CHANGED, -1), CHANGED, LAST]
  const pages = COUNTRIES.flatMap((country) => days.map((day) => page(day, country)))
  const { refused } = await record(sql, pages, () => NOW)
  expect(refused).toEqual([])
  for (const month of MONTHS.slice(0, -1)) await storeCounts(month)
})

const impact = async (query = "") => (await scene.call(`change-impact?country=us&window=7${query}`)).body
type Body = Awaited<ReturnType<typeof impact>>
const outcome = (body: Body, name: string): Body =>
  body.outcomes.find((figure: { outcome: string }) => figure.outcome === name)

slow("the verdict on an Android change is too_early until the files have every day of the window", async () => {
  await storeCounts("2026-10", "2026-10-16")
  const early = await impact()
  expect([early.day, early.verdict, early.complete]).toEqual([CHANGED, "too_early", false])
  for (const figure of early.outcomes) expect([figure.outcome, figure.effectPercent]).toEqual([figure.outcome, null])
  expect(early.sentence).toStartWith("Too early: the window ends on 2026-10-17 (America/Los_Angeles)")
  await storeCounts("2026-10")
  expect((await impact()).complete).toBe(true)
})

slow("fifty percent more installs per visitor after new screenshots are detected in Google Play's files", async () => {
  const body = await impact()
  expect(body).toMatchObject({ verdict: "improved", changed: [{ kind: "screenshots", countries: ["us"] }] })
  expect(body.outcomes.map((figure: { outcome: string }) => figure.outcome)).toEqual([
    "conversion",
    "store_visitors",
    "acquisitions",
    "downloads",
  ])
  const days = { before: { from: "2026-09-11", to: "2026-10-08" }, after: { from: "2026-10-11", to: "2026-10-17" } }
  const conversion = outcome(body, "conversion")
  expect(conversion).toMatchObject({ ...days, primary: true, dayZone: "America/Los_Angeles", treated: ["us"] })
  // 0.75 ÷ 0.5 is 50 % more. Installs rise by the same share, because the number of visitors is unchanged.
  for (const name of ["conversion", "acquisitions", "downloads"]) {
    const found = outcome(body, name)
    expect([name, found.method, found.verdict]).toEqual([name, "difference_in_differences", "improved"])
    expect(found.effectPercent).toBeWithin(48, 52)
    expect(found.controls.map((control: { name: string }) => control.name)).not.toContain("us")
  }
  expect(outcome(body, "store_visitors").verdict).toBe("no_clear_change")
  expect(outcome(body, "store_visitors").effectPercent).toBeWithin(-2, 2)
  expect(body.adsSpend).toBeNull()
  expect(body.missing.map(({ what }: { what: string }) => what)).toEqual([
    "search_impressions",
    "ranks",
    "proceeds_per_download",
    "ads_spend",
  ])
  expect(body.sources.map((source: { report: string; kind: string }) => [source.kind, source.report])).toEqual([
    ["google-play-console", "play_store_country"],
    ["google-play-console", "play_installs_country"],
  ])
})

slow("the verdict on proceeds is too_early until the month's earnings are settled", async () => {
  const earnings = (month: string) => {
    const rows = rowsOf(month)
    const head =
      "Description,Transaction Date,Transaction Type,Product id,Sku Id,Buyer Country,Buyer Currency," +
      "Amount (Buyer Currency),Merchant Currency,Amount (Merchant Currency)"
    const name = new Intl.DateTimeFormat("en", { month: "short", timeZone: "UTC" })
    const lines = rows.map(({ day, country, acquired }, order) => {
      const printed = `${name.format(new Date(day))} ${Number(day.slice(8))}, 2026`
      const paid = `${acquired}.00`
      return `GPA.${order},"${printed}",Charge,${APP},pro,${country.toUpperCase()},USD,${paid},USD,${paid}`
    })
    const updated = `${addDays(`${month}-28`, 8)}T00:00:00Z`
    return scene.store(`earnings/earnings_${monthOf(month)}_1-1.zip`, [head, ...lines].join("\n"), updated)
  }
  for (const month of MONTHS.slice(0, -1)) await earnings(month)
  expect(outcome(await impact(), "proceeds_per_download")).toMatchObject({ verdict: "too_early", effectPercent: null })
  await earnings("2026-10")
  const settled = outcome(await impact(), "proceeds_per_download")
  // Every second install brings a dollar, before the change as after it.
  expect([settled.method, settled.treatedPercent, settled.effectPercent]).toEqual(["difference_in_differences", 0, 0])
})
