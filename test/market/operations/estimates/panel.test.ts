import { expect, setDefaultTimeout } from "bun:test"
import { sales } from "../../../../src/consoles/kinds/sales.ts"
import { pacificDay } from "../../../../src/consoles/pacific.ts"
import { daysUpTo } from "../../../../src/consoles/read/app-accounts.ts"
import { addDays, daysInMonth, monthOf } from "../../../../src/lib/days.ts"
import { makeDue } from "../../../../src/market/estimates/estimates.ts"
import { STORE_PRIORS } from "../../../../src/market/formulas/ratio.ts"
import { scoreOf } from "../../../../src/market/formulas/scores.ts"
import { type AccountScene, accountScene } from "../../../consoles/scene.ts"
import { freshDatabase } from "../../../database.ts"
import { afterSlow, beforeSlow, slow } from "../../../long.ts"
import { appsReading } from "../../../measuring/record/measured.ts"
import { record } from "../../../record.ts"
import { trackOwn } from "../../../world/tracked.ts"
import { growingApps, unratedApps } from "../../formulas/back-test.ts"
import { type AppTwice, appsOf, appsTwice, SOME } from "../../formulas/play-apps.ts"

setDefaultTimeout(60_000)

const NOW = new Date()
const MONTH = monthOf(addDays(monthOf(pacificDay(NOW)), -1))
const END = addDays(MONTH, daysInMonth(MONTH) - 1)
const TWICE = appsTwice(appsOf(SOME))
const [GROWING, UNRATED] = [growingApps(TWICE), unratedApps(TWICE)]
const PANEL = [...GROWING, ...UNRATED].map((app, at) => ({ app, id: String(600_000_001 + at), sku: `APP${at}` }))

let scene: AccountScene
let key = ""

/**
 * Fifty real apps whose installs and ratings were counted twice, eleven months apart, which stand in for thirty days.
 * They are App Store apps of one workspace: their ratings were read twice, and the console reported their installs up
 * to the first reading only.
 */
beforeSlow(async () => {
  scene = await accountScene(await freshDatabase(), NOW)
  const { sql, service, standIn, workspaceId } = scene
  await sql`update workspace set explorer = true`
  await sql`update account set quota = 1000000000`
  for (const { id, sku } of PANEL) {
    standIn.apps.push({ id, name: sku, bundleId: `com.example.${sku}`, sku })
    const tracked = { name: sku, iosId: id, countries: ["us"], keywords: [], origin: "own" as const }
    await trackOwn(sql, { workspaceId, ...tracked })
  }
  const read = (daysAgo: number, of: (app: AppTwice) => number) =>
    appsReading(
      new Date(NOW.getTime() - 60_000 - daysAgo * 86_400_000).toISOString(),
      PANEL.map(({ app, id }) => ({ id, ratings: of(app) })),
    )
  const { id: account } = await scene.add()
  const sold = PANEL.map(({ app, sku }) => ({
    app: sku,
    product: sku,
    title: sku,
    type: "1F",
    country: "us",
    units: app.first.installs,
    price: "0",
    currency: "USD",
    proceeds: "0",
    proceedsCurrency: "USD",
  }))
  const reports = daysUpTo(END, 30).map((day) => ({
    ...sales.example,
    kind: "sales" as const,
    parser: 1,
    origin: "local",
    account,
    day,
    seenAt: NOW,
    sha256: new Uint8Array(32),
    rows: day === END ? sold : [],
  }))
  const readings = [
    read(30, ({ first }) => first.facts.ratings),
    read(0, ({ second }) => second.facts.ratings),
    ...reports,
  ]
  expect((await record(sql, readings as never, () => NOW)).refused).toEqual([])
  const estimates = PANEL.map(({ app: { first }, id }) => ({
    id,
    value: first.facts.ratings * 10 ** STORE_PRIORS.ios.mean,
  }))
  await sql`
    insert into estimate_grade (month, app_id, formula, ratings, storefronts, value, low, high)
    select ${MONTH}::date, s.id, 1, 0, '{us}', r.value, r.value, r.value
    from jsonb_to_recordset(${sql.json(estimates)}) r (id text, value float8)
    join store_app s on s.store_id = r.id
    where r.value > 0`
  await sql`update estimate_due set next_at = now() where next_at is not null`
  while ((await makeDue(sql, NOW)) > 0);
  key = await service.key(workspaceId)
})
afterSlow(() => scene.standIn.stop())

async function answers(apps: readonly AppTwice[]) {
  const found = []
  for (const app of apps) {
    const { id } = PANEL.find((entry) => entry.app === app)!
    const { body } = await scene.service.call(`/v1/hive/estimate/${id}`, { key })
    found.push({ ...body.downloads, basis: body.basis, truth: app.second.installs - app.first.installs })
  }
  return found
}

slow(
  "own ratios estimate half of 26 real apps within a factor of 10^0.2, and 20 within the 80 % interval",
  async () => {
    const found = await answers(GROWING)
    expect(found.map(({ basis }) => basis)).toEqual(GROWING.map(() => "own"))
    const { n, medianAbsLog10 } = scoreOf(found)!
    const covered = found.filter(({ low, high, truth }) => truth >= low && truth <= high).length
    expect(n).toBe(26)
    expect(medianAbsLog10).toBeLessThanOrEqual(0.2)
    expect(covered).toBeGreaterThanOrEqual(20)
  },
)

slow(
  "13 real apps without a new rating have only an upper bound of 1,000, and their installs are below it",
  async () => {
    const found = await answers(UNRATED)
    expect(found).toHaveLength(13)
    for (const { value, low, high, under, truth } of found) {
      expect([value, low, high, under]).toEqual([null, null, null, 1_000])
      expect(truth).toBeLessThan(1_000)
    }
  },
)
