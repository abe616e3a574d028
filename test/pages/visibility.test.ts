import { beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { csvRecords } from "../../src/lib/csv.ts"
import type { Browser } from "../access/sign-in/browser.ts"
import { freshDatabase } from "../database.ts"
import { record } from "../record.ts"
import { openService, type Service } from "../service.ts"
import { type Sharing, sharing } from "../sharing/share-scene.ts"
import { dayAgo } from "../world/clock.ts"
import { popularityReading } from "../world/readings.ts"
import { ownerOf } from "./app-scene.ts"

setDefaultTimeout(60_000)

/** The popularity of each keyword. "oolong" has none. */
const POPULARITY = { tea: 62, "green tea": 31, matcha: 14 }

let service: Service
let tea: Sharing
let owner: Browser
let page: string

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
  tea = await sharing(service, { name: "Tea", keywords: [...Object.keys(POPULARITY), "oolong"] })
  const month = `${dayAgo(40).slice(0, 7)}-01`
  const published = Object.entries(POPULARITY).map(([term, popularity]) => popularityReading(term, month, popularity))
  await record(service.sql, published, () => new Date())
  const days: [string, number, number][] = []
  for (let day = 0; day < 20; day++) {
    days.push(["tea", day, 1 + ((day * 5) % 14)], ["oolong", day, 1])
    // green tea is absent on some days and unmeasured on others; matcha alone does not suffice for a score
    if (day % 4 !== 1) days.push(["green tea", day, day % 5 === 0 ? 0 : 10])
  }
  for (let day = 20; day < 24; day++) days.push(["matcha", day, 1])
  await tea.measureAll(days)
  owner = await ownerOf(service, tea.writer.workspace)
  page = `/app/apps/${tea.app}/visibility`
})

/**
 * Returns the score of each day, computed from the stored results alone: places are looked up in each list, and every
 * day is summed in SQL.
 */
async function calculated(): Promise<Map<string, number>> {
  const whole = Object.values(POPULARITY).reduce((sum, popularity) => sum + popularity, 0)
  const rows = await service.sql<{ day: string; score: number }[]>`
    select r.day::text as day,
      (100.0 * sum(p.popularity * case when x.place <= 10 then (11 - x.place) / 10.0 else 0 end)
        / sum(p.popularity))::float8 as score
    from search_results r
    join list l on l.id = r.list_id
    join unnest(${Object.keys(POPULARITY)}::text[], ${Object.values(POPULARITY)}::int[]) p (term, popularity)
      on p.term = l.term
    left join lateral (
      select u.place
      from unnest(r.app_ids) with ordinality u (id, place)
      join store_app s on s.id = u.id
      where s.store_id = ${tea.iosId}
    ) x on true
    group by r.day
    having 2 * sum(p.popularity) >= ${whole}
    order by r.day`
  return new Map(rows.map(({ day, score }) => [day, score]))
}

test("the visibility score of each day equals a calculation from the stored search results", async () => {
  const { text } = await owner.open(`${page}?days=30&csv=visibility`)
  const scores = await calculated()
  expect(scores.size).toBe(20)
  const rows = [...csvRecords(text)].slice(1).map(({ fields }) => fields!)
  expect(rows.length).toBe(30)
  for (const [day = "", , state, value] of rows) {
    const score = scores.get(day)
    expect([day, state]).toEqual([day, score === undefined ? "not measured" : "measured"])
    if (score !== undefined) expect(Number(value)).toBeCloseTo(score, 9)
  }
})

test("the page shows the score's formula and the number of keywords and days used", async () => {
  const { text } = await owner.open(`${page}?days=30`)
  expect(text).toContain("Score of a day = 100 × Σ popularity × points ÷ (10 × Σ popularity).")
  expect(text).toContain("Here: 3 keywords of 4 tracked, 20 days with a\nscore.")
  expect(text).toContain("1 keyword has no known popularity")
})

test("without a measured popularity the page shows no score and explains what is missing", async () => {
  const plain = await sharing(service, { name: "Plain", keywords: ["unheard"], androidPkg: "com.example.plain" })
  await plain.measure("unheard", 0, 1)
  const looker = await ownerOf(service, plain.writer.workspace)
  const { text } = await looker.open(`/app/apps/${plain.app}/visibility`)
  expect(text).toContain("No keyword has a popularity yet")
  expect(text).not.toMatch(/100\.0 %|0\.0 %/)
  const play = await looker.open(`/app/apps/${plain.app}/visibility?at=us-android`)
  expect(play.text).toContain("Google Play publishes none")
})
