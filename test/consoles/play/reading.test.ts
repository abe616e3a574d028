import { afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { findAccount } from "../../../src/consoles/register.ts"
import { troubleLines } from "../../../src/consoles/trouble-lines.ts"
import { createAccountReading } from "../../../src/consoles/worker.ts"
import type { Sql } from "../../../src/database/types.ts"
import { monthsBefore } from "../../../src/lib/days.ts"
import { silentLog } from "../../../src/lib/log.ts"
import type { RawBody } from "../../../src/measuring/source.ts"
import { recording } from "../../../src/recording.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { type PlayScene, playScene, TEA_PACKAGE } from "./scene.ts"
import { googleRefusal, utf16 } from "./stand-in.ts"
import { zipOf } from "./zip.ts"

let sql: Sql
let scene: PlayScene
let account: string
const storedBodies: RawBody[] = []
beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  await sql`update connected_account set next_at = null`
  scene = await playScene(sql)
  scene.standIn.files.clear()
  storedBodies.length = 0
})
afterEach(() => scene.standIn.stop())

/** Returns the month this many months ago, as "2026-10". */
const month = (monthsBack: number) => monthsBefore(new Date().toISOString().slice(0, 10), monthsBack).slice(0, 7)
const compact = (monthsBack: number) => month(monthsBack).replace("-", "")
/** A time last week, which is before any read in these tests. */
const EARLIER = new Date(Date.now() - 7 * 86_400_000)

const nameOf = (monthsBack: number, { app = TEA_PACKAGE, family = "installs", cut = "overview" } = {}) =>
  `stats/${family}/${family}_${app}_${compact(monthsBack)}_${cut}.csv`

function installs(monthsBack: number, counts: Record<string, number | string>, app = TEA_PACKAGE): string {
  const lines = Object.entries(counts).map(([date, count]) => `${month(monthsBack)}-${date},${app},${count}`)
  return ["Date,Package Name,Daily User Installs", ...lines].map((line) => `${line}\n`).join("")
}

const ORDER_TITLES =
  "Order Number,Order Charged Date,Financial Status,Product ID,SKU ID,Currency of Sale,Charged Amount,Country of Buyer"
function orders(monthsBack: number, amount: string): Uint8Array {
  const line = `GPA.1,${month(monthsBack)}-03,Charged,${TEA_PACKAGE},tea.pro,USD,${amount},US`
  return zipOf({ name: "../../orders.csv", content: Buffer.from(`${ORDER_TITLES}\n${line}\n`) })
}

/** Reads until nothing is due. */
async function readAll(options: { atMost?: number } = {}) {
  await sql`update connected_account set next_at = now() where id = ${account}`
  const parts = { sql, sealer, log: silentLog, reach: scene.register.reach, gapMs: 0, atMost: 200, ...options }
  await createAccountReading({ recording, ...parts, keep: async (body) => void storedBodies.push(body) }).runOnce()
}

/** Lists the files again, half a day later. */
async function relist() {
  scene.standIn.requests.length = 0
  await sql`update account_task set next_at = now() where account_id = ${account} and task = 'play_files'`
  await readAll()
}

const connect = async () => {
  account = (await scene.add()).id
}

const tasks = async () => {
  const rows = await sql<{ subject: string; state: string }[]>`
    select subject, state from account_task
    where account_id = ${account} and task not in ('play_files', 'reviews') order by day desc, subject`
  return rows.map(({ subject, state }) => [subject, state])
}

const days = async () => {
  const rows = await sql<{ day: string; count: number | null }[]>`
    select day, count from funnel_fact
    where account_id = ${account} and report = 'play_installs' order by day`
  return rows.map(({ day, count }) => [day, count])
}

const media = () => scene.standIn.requests.filter((path) => path.includes("alt=media"))

slow("known reports of tracked apps are read for the last two years, latest month first", async () => {
  const { standIn } = scene
  standIn.pageSize = 2
  for (const monthsBack of [0, 1, 2, 23, 24])
    standIn.put(nameOf(monthsBack), installs(monthsBack, { "01": monthsBack + 1 }), EARLIER)
  standIn.put(nameOf(1, { app: "com.example.other" }), installs(1, { "01": 9 }, "com.example.other"), EARLIER)
  standIn.put(nameOf(1, { app: `${TEA_PACKAGE}_pot` }), installs(1, { "01": 9 }, `${TEA_PACKAGE}_pot`), EARLIER)
  standIn.put(nameOf(1, { cut: "carrier" }), "Date,Carrier\n", EARLIER)
  standIn.put(`sales/salesreport_${compact(1)}.zip`, orders(1, "4.99"), EARLIER)
  await connect()
  await readAll()
  expect(await tasks()).toEqual([
    [`sales/salesreport_${compact(0)}.zip`, "late"],
    [nameOf(0), "read"],
    [`sales/salesreport_${compact(1)}.zip`, "read"],
    [nameOf(1), "read"],
    [nameOf(2), "read"],
    [nameOf(23), "read"],
  ])
  const order = media().map((path) => /_(\d{6})[_.]/.exec(path)![1])
  expect(order).toEqual([compact(0), compact(1), compact(1), compact(2), compact(23)])
  expect(await days()).toEqual([23, 2, 1, 0].map((monthsBack) => [`${month(monthsBack)}-01`, monthsBack + 1]))
  const [sold] = await sql`select app, gross::text, units from estimated_sales_fact where account_id = ${account}`
  expect(sold).toEqual({ app: TEA_PACKAGE, gross: "4.99", units: 1 })
  // Bodies of sales name orders, so they are not stored.
  expect(storedBodies).toHaveLength(4)
  expect((await findAccount(sql, scene.workspaceId, account)).troubles).toEqual([])
})

slow("a missing file is late and not empty, and is read when it appears; an empty file gives no zeros", async () => {
  const { standIn } = scene
  standIn.put(nameOf(2), installs(2, { "01": 5 }), EARLIER)
  standIn.put(nameOf(1), installs(1, {}), EARLIER)
  await connect()
  await readAll()
  expect(await tasks()).toEqual([
    [nameOf(0), "late"],
    [nameOf(1), "empty"],
    [nameOf(2), "read"],
  ])
  expect(await days()).toEqual([[`${month(2)}-01`, 5]])
  expect(await sql`select from report_day where account_id = ${account} and day >= ${`${month(1)}-01`}`).toHaveLength(0)
  standIn.put(nameOf(0), installs(0, { "01": 7 }))
  await relist()
  expect(await days()).toEqual([
    [`${month(2)}-01`, 5],
    [`${month(0)}-01`, 7],
  ])
  expect(media()).toHaveLength(1)
})

slow(
  "a restated month replaces its changed days once and keeps both reports; other files are not requested",
  async () => {
    const { standIn } = scene
    standIn.put(nameOf(1), installs(1, { "01": 10, "02": 20 }), EARLIER)
    standIn.put(nameOf(2), installs(2, { "01": 5 }), EARLIER)
    await connect()
    await readAll()
    await relist()
    expect(media()).toEqual([])
    standIn.put(nameOf(1), installs(1, { "01": 10, "02": 21, "03": 0 }))
    const { generation } = standIn.files.get(nameOf(1))!
    await relist()
    expect(media()).toEqual([
      `GET /storage/v1/b/${standIn.bucket}/o/${encodeURIComponent(nameOf(1))}?alt=media&generation=${generation}`,
    ])
    expect(await days()).toEqual([
      [`${month(2)}-01`, 5],
      [`${month(1)}-01`, 10],
      [`${month(1)}-02`, 21],
      [`${month(1)}-03`, 0],
    ])
    const stored = await sql<{ day: string; versions: number; last: string }[]>`
    select day, count(*)::int as versions, max(file) as last from report_day
    where account_id = ${account} and day >= ${`${month(1)}-01`} group by day order by day`
    expect(stored.map(({ versions }) => versions)).toEqual([1, 2, 1])
    expect(stored[1]!.last).toBe(`${nameOf(1)}#${generation}`)
    // A new generation with the same content changes nothing.
    standIn.put(nameOf(1), installs(1, { "01": 10, "02": 21, "03": 0 }))
    await relist()
    expect(media()).toHaveLength(1)
    expect(await sql`select from report_day where account_id = ${account}`).toHaveLength(5)
  },
)

test("a second earnings file of the same month is refused until the first file is removed", async () => {
  const { standIn } = scene
  const nameAt = (number: number) => `earnings/earnings_${compact(1)}_123-${number}.zip`
  const titles = "Description,Transaction Date,Transaction Type,Product id,Sku Id,Buyer Country,Buyer Currency"
  const earningsFile = (amount: string) => {
    const head = `${titles},Amount (Buyer Currency),Merchant Currency,Amount (Merchant Currency)`
    const line = `GPA.1,${month(1)}-03,Charge,${TEA_PACKAGE},tea.pro,US,USD,${amount},EUR,${amount}`
    return zipOf({ name: "earnings.csv", content: Buffer.from(`${head}\n${line}\n`) })
  }
  const proceeds = async () => {
    const rows = await sql<{ proceeds: string }[]>`
      select proceeds::text from sales_fact where account_id = ${account}`
    return rows.map((row) => row.proceeds)
  }
  standIn.put(nameAt(1), earningsFile("1.00"), EARLIER)
  standIn.put(nameAt(2), earningsFile("2.00"), EARLIER)
  await connect()
  await readAll()
  expect(await proceeds()).toEqual(["1"])
  const { troubles } = await findAccount(sql, scene.workspaceId, account)
  expect(troubles.map(({ what, why }) => `${what}: ${why}`)).toEqual([
    `earnings, file ${nameAt(2)}: the bucket has another file of this month, which was read: ${nameAt(1)}`,
  ])
  standIn.files.delete(nameAt(1))
  standIn.put(nameAt(2), earningsFile("2.00"))
  await relist()
  expect(await proceeds()).toEqual(["2"])
})

slow("a file that vanishes after it was listed is late, and is read once it is listed again", async () => {
  scene.standIn.put(nameOf(1), installs(1, { "01": 1 }), EARLIER)
  scene.standIn.before = (path) =>
    path.includes("alt=media") ? googleRefusal(404, "notFound", "No such object: x") : null
  await connect()
  await readAll()
  expect(await tasks()).toContainEqual([nameOf(1), "late"])
  scene.standIn.before = () => null
  await relist()
  expect(await tasks()).toContainEqual([nameOf(1), "read"])
})

describe("a file that cannot be read", () => {
  slow(
    "an unreadable file is skipped without affecting others, and reported with its name and the reason",
    async () => {
      const { standIn } = scene
      standIn.put(nameOf(0), installs(0, { "01": 1 }), EARLIER)
      standIn.put(nameOf(1), new Uint8Array([0xff, 0xff, 0xfe, 0x00]), EARLIER)
      standIn.put(nameOf(2), "Date,Package Name\n", EARLIER)
      const bomb = zipOf({ name: "bomb.csv", content: new Uint8Array(3_000_000) })
      standIn.put(`sales/salesreport_${compact(1)}.zip`, bomb, EARLIER)
      standIn.put(`sales/salesreport_${compact(2)}.zip`, orders(2, "1.00"), EARLIER)
      standIn.put("sales/../../etc/passwd_202610.zip", bomb, EARLIER)
      standIn.put(`earnings/earnings_${compact(1)}_\u202e.zip`, bomb, EARLIER)
      await connect()
      await readAll()
      const { state, troubles } = await findAccount(sql, scene.workspaceId, account)
      expect(state).toBe("ok")
      const lines = troubleLines(troubles)
      expect(
        lines.map((line) => line.replace(/; next try .*/, "").replace(/\d+ times larger/, "larger")).sort(),
      ).toEqual([
        `not read: estimated sales, file sales/salesreport_${compact(1)}.zip: the archive is refused: ` +
          "its file is larger than the archive; at most 200 times is allowed",
        `not read: installs, file ${nameOf(2)}: line 1 has no column "Daily User Installs"`,
        `not read: installs, file ${nameOf(1)}: the report is neither UTF-16 nor UTF-8`,
      ])
      expect(await days()).toEqual([[`${month(0)}-01`, 1]])
      standIn.put(nameOf(1), installs(1, { "01": 4 }))
      await relist()
      expect(await days()).toContainEqual([`${month(1)}-01`, 4])
    },
  )

  slow("a failure of Google pauses the account, and the other files are read afterwards", async () => {
    const { standIn } = scene
    for (const monthsBack of [0, 1]) standIn.put(nameOf(monthsBack), installs(monthsBack, { "01": 1 }), EARLIER)
    await connect()
    standIn.before = (path) =>
      path.includes(`${compact(0)}_overview.csv?alt=media`) ? new Response("busy", { status: 503 }) : null
    await readAll()
    expect(await days()).toEqual([])
    await readAll()
    expect(await days()).toEqual([[`${month(1)}-01`, 1]])
    expect((await findAccount(sql, scene.workspaceId, account)).troubles[0]?.why).toBe("Google answers 503")
  })

  slow("a file is denied without the right, and is read once Play Console gives the right", async () => {
    const { standIn } = scene
    standIn.put(nameOf(1), installs(1, { "01": 1 }), EARLIER)
    standIn.put(`sales/salesreport_${compact(1)}.zip`, orders(1, "2.00"), EARLIER)
    await connect()
    await sql`update connected_account set checked_at = now() where id = ${account}`
    standIn.may.financial = false
    await readAll()
    expect(await tasks()).toContainEqual([`sales/salesreport_${compact(1)}.zip`, "denied"])
    expect(await days()).toHaveLength(1)
    await readAll()
    const { rights } = await findAccount(sql, scene.workspaceId, account)
    expect(rights.find(({ name }) => name === "financial")?.state).toBe("denied")
    standIn.may.financial = true
    await sql`update connected_account set checked_at = null where id = ${account}`
    await readAll()
    expect(await tasks()).toContainEqual([`sales/salesreport_${compact(1)}.zip`, "read"])
  })
})

slow("UTF-16 of either byte order and UTF-8 are read in the same way", async () => {
  const text = installs(1, { "01": 3 })
  const big = Buffer.from(utf16(text)).swap16()
  for (const bytes of [utf16(text), big, Buffer.from(text), Buffer.from(`\uFEFF${text}`)]) {
    scene.standIn.put(nameOf(1), bytes)
    if (bytes.length === utf16(text).length && bytes !== big) await connect()
    await readAll()
    await relist()
    const { troubles } = await findAccount(sql, scene.workspaceId, account)
    expect(troubles).toEqual([])
    expect(await days()).toEqual([[`${month(1)}-01`, 3]])
  }
})
