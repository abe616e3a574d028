import { expect, setDefaultTimeout } from "bun:test"
import { sales } from "../../../../src/consoles/kinds/sales.ts"
import { daysUpTo } from "../../../../src/consoles/read/app-accounts.ts"
import { makeDue } from "../../../../src/market/estimates/estimates.ts"
import {
  ANCHOR_SPREAD,
  grossingRevenue,
  PLACE_SPREAD,
  PUBLISHED_ANCHORS,
} from "../../../../src/market/formulas/revenue.ts"
import { type AccountScene, accountScene, TEA } from "../../../consoles/scene.ts"
import { freshDatabase } from "../../../database.ts"
import { afterSlow, beforeSlow, slow } from "../../../long.ts"
import { charted } from "../../../measuring/record/charted.ts"
import { appsReading } from "../../../measuring/record/measured.ts"
import { record } from "../../../record.ts"

setDefaultTimeout(60_000)

// a time today for which charts and consoles have data
const NOW = new Date(Date.now() - 60_000)
const DAYS = daysUpTo(NOW.toISOString().slice(0, 10), 8)
/** The grossing chart with Tea Timer at #20, and one app that is on sale but not on the chart. */
const LISTED = Array.from({ length: 60 }, (_, at) => (at === 19 ? TEA.id : String(600_000_001 + at)))
const UNLISTED = "600000999"
const SELECTED = [LISTED[11]!, TEA.id, LISTED[49]!, LISTED[54]!, UNLISTED]
const CHART = "charts?kind=grossing&estimates=true"
const FIND = "find?kind=grossing&country=us"

let scene: AccountScene
let [ownKey, narrow, other] = ["", "", ""]
let account = ""

beforeSlow(async () => {
  scene = await accountScene(await freshDatabase(), NOW)
  const { sql, service } = scene
  await sql`update workspace set explorer = true`
  await sql`update account set quota = 1000000000`
  const at = (day: string) => (day === DAYS.at(-1) ? NOW.toISOString() : `${day}T06:00:00Z`)
  const { refused } = await record(
    sql,
    [
      ...DAYS.map((day) => charted(at(day), LISTED, { source: "apple-charts", chart: "grossing", genre: "36" })),
      appsReading(
        NOW.toISOString(),
        [...LISTED, UNLISTED].map((id) => ({ id, ratings: 100 })),
      ),
    ],
    () => new Date(),
  )
  expect(refused).toEqual([])
  await sql`update estimate_due set next_at = now() where next_at is not null`
  while ((await makeDue(sql, NOW)) > 0);
  ownKey = await service.key(scene.workspaceId)
  narrow = await service.key(scene.workspaceId, { scopes: ["hive:read", "hive:estimate"] })
  other = await service.key(
    await service.workspace({ plan: "pro", explorer: true, overrides: { credits: 1e9, ratePerSecond: 1e6 } }),
  )
  account = (await scene.add()).id
})
afterSlow(() => scene.standIn.stop())

const ask = (path: string, key: string) => scene.service.call(`/v1/hive/${path}`, { key })
// biome-ignore lint/suspicious/noExplicitAny: answers
const singleEstimates = async (key: string): Promise<any[]> => {
  const answers = []
  for (const id of SELECTED) answers.push((await ask(`estimate/${id}`, key)).body)
  return answers
}
const idsIn = async (key: string, filter: string) =>
  (await ask(`${FIND}${filter}`, key)).body.apps.map(({ id }: { id: string }) => id)
const everything = async (keys: readonly string[]) => {
  const texts: string[] = []
  for (const key of keys)
    for (const path of [CHART, `${FIND}&estimates=true`, `${FIND}&revenueMin=500000`, `${FIND}&revenueMax=500000`])
      texts.push((await ask(path, key)).text)
  for (const key of keys) texts.push(JSON.stringify(await singleEstimates(key)))
  return texts
}

/** Reports Tea Timer's revenue in the United States on these days, in cents a day. */
async function sold(days: readonly string[], { proceeds = "60", currency = "USD" } = {}) {
  const row = {
    app: TEA.sku,
    product: "TEA01.coins",
    title: "Coins",
    type: "IA1",
    country: "us",
    units: 100,
    price: "99",
    currency,
    proceeds,
    proceedsCurrency: currency,
  }
  const german = { ...row, country: "de", currency: "EUR", proceedsCurrency: "EUR", units: 1_000_000 }
  const reports = days.map((day) => ({
    ...sales.example,
    kind: "sales" as const,
    parser: 1,
    origin: "local",
    account,
    day,
    seenAt: NOW,
    sha256: new Uint8Array(32),
    rows: [row, german],
  }))
  expect((await record(scene.sql, reports as never, () => new Date())).refused).toEqual([])
}

slow("own revenue changes estimates of grossing ranks only for keys that may read the revenue", async () => {
  const published = (place: number | null) => grossingRevenue(place, 60, PUBLISHED_ANCHORS)
  const before = await singleEstimates(ownKey)
  const places = [12, 20, 50, 55, null]
  for (const [at, place] of places.entries()) {
    const [{ revenue, revenueBasis }, figure] = [before[at], published(place)!]
    expect([revenue.value, revenue.under, revenueBasis]).toEqual([
      figure.value && Math.round(figure.value),
      figure.under,
      "prior",
    ])
  }
  const [strangers, ownAnswers] = [await everything([other, narrow]), await everything([ownKey])]
  // six days are too few, and a seventh in another currency does not count
  await sold(DAYS.slice(0, 6))
  await sold(DAYS.slice(6, 7), { currency: "EUR" })
  expect(await everything([ownKey])).toEqual(ownAnswers)
  await sold(DAYS.slice(7))

  const share = 6_000 / (published(20)!.value! / 30)
  const times = share ** (ANCHOR_SPREAD ** 2 / (ANCHOR_SPREAD ** 2 + PLACE_SPREAD ** 2))
  expect(times).toBeLessThan(0.5)
  const after = await singleEstimates(ownKey)
  for (const [at, place] of places.entries()) {
    const [{ revenue, revenueBasis, ...rest }, figure] = [after[at], published(place)!]
    const { revenue: _, revenueBasis: __, ...restBefore } = before[at]
    expect(rest).toEqual(restBefore)
    expect(revenueBasis).toBe("own")
    if (figure.value === null) {
      expect(revenue).toEqual({ value: null, low: null, high: null, under: Math.round(figure.under! * times) })
      continue
    }
    expect([revenue.value, revenue.under]).toEqual([Math.round(figure.value * times), null])
    // the interval keeps its width
    expect(revenue.high / revenue.low).toBeCloseTo(36, 1)
  }
  // no revenue is published for the first ranks, and own revenue does not extend to them
  expect((await ask(CHART, ownKey)).body.apps[0].estimate).toBeNull()
  // every operation shows the same estimate, and filters compare the displayed figures
  const { body } = await ask(CHART, ownKey)
  const estimates = new Map(body.apps.map(({ id, estimate }: { id: string; estimate: object }) => [id, estimate]))
  for (const [at, id] of SELECTED.entries()) if (id !== UNLISTED) expect(estimates.get(id)).toEqual(after[at].revenue)
  for (const at of [0, 1, 2]) {
    const { value } = after[at].revenue
    expect(await idsIn(ownKey, `&revenueMin=${value}&revenueMax=${value}`)).toEqual([SELECTED[at]])
    expect(await idsIn(other, `&revenueMin=${value}&revenueMax=${value}`)).toEqual([])
  }
  const { under } = after[3].revenue
  expect(await idsIn(ownKey, `&revenueMax=${under}`)).toContain(SELECTED[3])
  expect(await idsIn(ownKey, `&revenueMax=${under - 1}`)).not.toContain(SELECTED[3])
  expect(await everything([other, narrow])).toEqual(strangers)
  expect(await everything([ownKey])).not.toEqual(ownAnswers)
})
