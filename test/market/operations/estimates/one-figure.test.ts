import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { sales } from "../../../../src/consoles/kinds/sales.ts"
import { pacificDay } from "../../../../src/consoles/pacific.ts"
import { daysUpTo } from "../../../../src/consoles/read/app-accounts.ts"
import { csvRecords } from "../../../../src/lib/csv.ts"
import { addDays, daysInMonth, monthOf } from "../../../../src/lib/days.ts"
import { makeDue } from "../../../../src/market/estimates/estimates.ts"
import { BETWEEN_APPS, STORE_PRIORS, storeLevel } from "../../../../src/market/formulas/ratio.ts"
import { type AccountScene, accountScene, TEA } from "../../../consoles/scene.ts"
import { freshDatabase } from "../../../database.ts"
import { slow } from "../../../long.ts"
import { charted } from "../../../measuring/record/charted.ts"
import { appsReading } from "../../../measuring/record/measured.ts"
import { ownerOf } from "../../../pages/app-scene.ts"
import { record } from "../../../record.ts"

setDefaultTimeout(60_000)

const NOW = new Date()
const PRIOR = 10 ** STORE_PRIORS.ios.mean
const MONTH = monthOf(addDays(monthOf(pacificDay(NOW)), -1))
const END = addDays(MONTH, daysInMonth(MONTH) - 1)
/**
 * Ratings that each of the chart's twelve apps gained in 20 days. Null if they were counted only once. Tea Timer is
 * third.
 */
const GAINED = [900, 700, 300, 500, 0, null, 200, 100, 80, null, 40, 20]
const IDS = GAINED.map((_, at) => (at === 2 ? TEA.id : String(500_000_001 + at)))

let scene: AccountScene
let [ownKey, other] = ["", ""]

beforeAll(async () => {
  scene = await accountScene(await freshDatabase(), NOW)
  const { sql, service } = scene
  await sql`update workspace set explorer = true`
  await sql`update account set quota = 1000000000`
  const read = (days: number, rows: [string, number][]) =>
    appsReading(
      new Date(NOW.getTime() - 60_000 - days * 86_400_000).toISOString(),
      rows.map(([id, ratings]) => ({ id, ratings })),
    )
  const { refused } = await record(
    sql,
    [
      charted(new Date(NOW.getTime() - 60_000).toISOString(), IDS, { source: "apple-charts" }),
      read(
        20,
        IDS.flatMap((id, at) => (GAINED[at] === null ? [] : [[id, 1_000] as [string, number]])),
      ),
      read(
        0,
        IDS.map((id, at) => [id, 1_000 + (GAINED[at] ?? 0)] as [string, number]),
      ),
    ],
    () => NOW,
  )
  expect(refused).toEqual([])
  await sql`update estimate_due set next_at = now() where next_at is not null`
  while ((await makeDue(sql, NOW)) > 0);
  ownKey = await service.key(scene.workspaceId)
  other = await service.key(
    await service.workspace({ plan: "pro", explorer: true, overrides: { credits: 1e9, ratePerSecond: 1e6 } }),
  )
})
afterAll(() => scene.standIn.stop())

const ask = (path: string, key: string) => scene.service.call(`/v1/hive/${path}`, { key })
const CHART = "charts?genre=6015&estimates=true"
// biome-ignore lint/suspicious/noExplicitAny: rows of an answer
const inChart = async (key: string): Promise<any[]> => {
  const { status, body } = await ask(CHART, key)
  expect([status, body.error]).toEqual([200, undefined])
  return body.apps
}
const FIND = "find?genre=6015&kind=free"
const inFinder = async (key: string, filter = "") => {
  const { body } = await ask(`${FIND}&estimates=true${filter}`, key)
  // biome-ignore lint/suspicious/noExplicitAny: a row of an answer
  return new Map<string, any>(body.apps.map(({ id, estimates }: any) => [id, estimates]))
}
const inFinderInOrder = async (key: string) => {
  const found = await inFinder(key)
  return IDS.map((id) => found.get(id)?.downloads ?? null)
}
/** The figures that hive_estimate_app should return, in the same format. */
const singleEstimates = async (key: string) => {
  const figures = []
  for (const id of IDS) figures.push((await ask(`estimate/${id}`, key)).body)
  return figures
}

slow("an app's estimate is the same in every operation, and an unknown estimate is always null", async () => {
  const each = await singleEstimates(other)
  expect(each.map(({ downloads }) => downloads?.value ?? downloads?.under ?? null)).toEqual(
    GAINED.map((gained) => (gained === null ? null : gained === 0 ? 1_500 : Math.round(gained * 1.5 * PRIOR))),
  )
  expect((await inChart(other)).map(({ estimate }) => estimate)).toEqual(each.map(({ downloads }) => downloads ?? null))
  expect(await inFinderInOrder(other)).toEqual(each.map(({ downloads }) => downloads ?? null))
  const found = await inFinder(other)
  expect([found.get(IDS[0]!).basis, found.get(IDS[5]!), found.size]).toEqual(["prior", null, 12])
})

test("rank estimates never rise down the chart, and the limit does not change the estimate at rank 10", async () => {
  const { body } = await ask(CHART, other)
  expect(body.measure).toBe("downloads")
  const places = body.apps.map(({ rankEstimate }: { rankEstimate: { value: number } }) => rankEstimate.value)
  expect(places).toEqual(places.toSorted((a: number, b: number) => b - a))
  expect(body.thresholds).toEqual([{ rank: 10, estimate: body.apps[9].rankEstimate, n: 10 }])
  const cut = (await ask(`${CHART}&limit=3`, other)).body
  expect([cut.apps, cut.thresholds]).toEqual([body.apps.slice(0, 3), body.thresholds])
})

test("a chart row without an estimate adds no cost", async () => {
  const used = async () => (await scene.service.call("/v1/account", { key: other })).body.credits.used
  const before = await used()
  await ask(CHART, other)
  expect((await used()) - before).toBe(10 + 50 * 10)
})

slow("own sales change estimates only for keys of the same workspace that may read sales", async () => {
  const { sql, service } = scene
  const narrow = await service.key(scene.workspaceId, { scopes: ["hive:read", "hive:estimate"] })
  const everything = async () => {
    const texts = []
    for (const key of [other, narrow])
      for (const path of [
        CHART,
        `${CHART}&limit=4`,
        FIND,
        `${FIND}&downloadsMin=9000`,
        ...IDS.map((id) => `estimate/${id}`),
      ])
        texts.push((await ask(path, key)).text)
    return texts
  }
  const before = await everything()
  const [ownBefore, aloneBefore] = [await inChart(ownKey), await singleEstimates(ownKey)]
  // 200 downloads were estimated and 145 sold
  await sql`
    insert into estimate_grade (month, app_id, formula, ratings, storefronts, value, low, high)
    select ${MONTH}::date, id, 1, 900, '{de,us}', 200, 100, 400
    from store_app
    where store_id = ${TEA.id}`
  const { id: account } = await scene.add()
  const sold = {
    app: TEA.sku,
    product: TEA.sku,
    title: "Tea Timer",
    type: "1F",
    country: "de",
    units: 5,
    price: "0",
    currency: "EUR",
    proceeds: "0",
    proceedsCurrency: "EUR",
  }
  const reports = daysUpTo(END, 30).map((day) => ({
    ...sales.example,
    kind: "sales" as const,
    parser: 1,
    origin: "local",
    account,
    day,
    seenAt: NOW,
    sha256: new Uint8Array(32),
    rows: day === END ? [] : [sold, { ...sold, country: "jp" }],
  }))
  expect((await record(sql, reports as never, () => NOW)).refused).toEqual([])

  const [rows, each] = [await inChart(ownKey), await singleEstimates(ownKey)]
  expect(rows.map(({ estimate }) => estimate)).toEqual(each.map(({ downloads }) => downloads ?? null))
  expect(await inFinderInOrder(ownKey)).toEqual(each.map(({ downloads }) => downloads ?? null))
  // the app itself uses its own downloads per rating
  const ratio = 145 / (200 / PRIOR)
  expect(each[2]).toMatchObject({ basis: "own", pairs: 0, coverage: null })
  expect(each[2].downloads.value).toBe(Math.round(300 * 1.5 * ratio))
  expect(each[2].downloads.high / each[2].downloads.low).toBeWithin(12, 14)
  // other apps are shifted by what one app reveals about the store, and get the narrower interval
  const level = storeLevel(STORE_PRIORS.ios, [Math.log10(ratio)])
  const hasGain = (at: number) => GAINED[at] !== null && GAINED[at] !== 0 && at !== 2
  for (const at of IDS.keys()) {
    const [{ downloads: earlier }, { downloads: now, basis }] = [aloneBefore[at], each[at]]
    if (!hasGain(at)) {
      if (at !== 2) expect(now).toEqual(earlier)
      continue
    }
    expect([basis, now.value]).toEqual(["prior", Math.round(GAINED[at]! * 1.5 * 10 ** level.mean)])
    expect(now.high / now.low).toBeLessThan(earlier.high / earlier.low)
    const width = Math.log10(now.high / now.low) / 2 / 1.28155
    const chance = Math.LOG10E / Math.sqrt(GAINED[at]!)
    expect(width).toBeCloseTo(Math.hypot(level.spread, BETWEEN_APPS, chance), 2)
  }
  expect(rows.map(({ estimate }) => estimate)).not.toEqual(ownBefore.map(({ estimate }) => estimate))
  // filters compare the displayed figures
  for (const at of IDS.keys()) {
    const value = each[at].downloads?.value
    if (!value) continue
    expect([...(await inFinder(ownKey, `&downloadsMin=${value}&downloadsMax=${value}`)).keys()]).toEqual([IDS[at]!])
    expect((await inFinder(other, `&downloadsMin=${value}&downloadsMax=${value}`)).size).toBe(0)
  }
  // the order of the finder's page also uses the displayed figures
  const owner = await ownerOf(service, scene.workspaceId)
  for (const [column, order] of ["downloads", "revenue", "growth"].entries()) {
    const { text } = await owner.open(`/app/market/${FIND}&estimates=yes&order=${order}&as=csv`)
    const rows = [...csvRecords(text)].slice(1).map(({ fields }) => fields as string[])
    const values = rows
      .map((fields) => fields[11 + 4 * column]!)
      .map((text) => (text === "" ? -Infinity : Number(text)))
    expect([order, values]).toEqual([order, values.toSorted((a, b) => b - a)])
    if (order === "downloads") expect(new Set(values).size).toBeGreaterThan(5)
  }
  expect(await everything()).toEqual(before)
})
