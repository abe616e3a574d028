import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { randomUUID } from "node:crypto"
import { pacificDay } from "../../src/consoles/pacific.ts"
import { type AccountRow, findAccount, testAccount } from "../../src/consoles/register.ts"
import { makeConsoleTasks } from "../../src/consoles/seller/console-tasks.ts"
import { troubleLines } from "../../src/consoles/trouble-lines.ts"
import { createAccountReading } from "../../src/consoles/worker.ts"
import { addDays } from "../../src/lib/days.ts"
import { silentLog } from "../../src/lib/log.ts"
import { recording } from "../../src/recording.ts"
import { failureNote } from "../../src/ui/app/parts.ts"
import type { Html } from "../../src/ui/html.ts"
import { sealer } from "../alerts/delivery/scene.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { type AccountScene, accountScene, TEA } from "./scene.ts"
import { type SalesRow, salesReport, table } from "./stand-in.ts"

const YESTERDAY = addDays(pacificDay(new Date()), -1)
const BEFORE = addDays(YESTERDAY, -1)

const APP: SalesRow = {
  SKU: "TEA01",
  Title: "Tea Timer",
  "Product Type Identifier": "1F",
  Units: "5",
  "Developer Proceeds": "0",
  "Customer Currency": "EUR",
  "Country Code": "DE",
  "Currency of Proceeds": "EUR",
  "Customer Price": "0",
}

const EVENT_COLUMNS = [
  "Event Date",
  "Event",
  "App Apple ID",
  "Subscription Name",
  "Subscription Apple ID",
  "Subscription Offer Type",
  "Country",
  "Quantity",
]

let scene: AccountScene
beforeEach(async () => {
  scene = await accountScene(await freshDatabase())
  scene.standIn.report = (type, day) => (type === "SALES" ? { tsv: salesReport(day, [APP]) } : "no sales")
})
afterEach(() => scene.standIn.stop())

/** Simulates a server over this many hours, with up to 60 requests in each. */
async function readHours(hours: number, atMost = 60): Promise<void> {
  const { sql, register, clock } = scene
  const parts = { sql, sealer, log: silentLog, reach: register.reach, now: () => clock.now, gapMs: 0, atMost }
  for (let hour = 0; hour < hours; hour++) {
    await sql`update connected_account set next_at = now()`
    await createAccountReading({ recording, ...parts }).runOnce()
  }
}

/** Adds the account and makes only its newest days due, so that the simulated hours are enough to read all of them. */
async function addWithDays(days: number): Promise<AccountRow> {
  const added = await scene.add()
  await makeConsoleTasks(scene.sql, added.id, scene.clock.now)
  await scene.sql`update account_task set next_at = null where day <= ${addDays(YESTERDAY, -days)}`
  return added
}

/** Number of days that are due. */
const DAYS = 30

function refusal(status: number, code: string, detail: string): Response {
  const error = { id: randomUUID(), status: String(status), code, title: "A parameter is not right", detail }
  return Response.json({ errors: [error] }, { status })
}

const VERSION_MISSING = "Please include the version parameter. The latest version for this report is"

/** Returns type, day and version of the requested report. Null for other requests. */
function requestedReport(path: string): { type: string; day: string; version: string | null } | null {
  const url = new URL(path, "https://console.example")
  if (url.pathname !== "/v1/salesReports") return null
  const filter = (name: string) => url.searchParams.get(`filter[${name}]`)
  return { type: filter("reportType")!, day: filter("reportDate")!, version: filter("version") }
}

const states = async (report: string) =>
  Object.fromEntries(
    (
      await scene.sql<{ state: string; count: number }[]>`
        select state, count(*)::int as count
        from account_task
        where task = ${report} and day > ${addDays(YESTERDAY, -DAYS)}
        group by state
        order by state`
    ).map(({ state, count }) => [state, count]),
  )

const account = async () => {
  const [row] = await scene.sql<{ id: string }[]>`select id from connected_account`
  return await findAccount(scene.sql, scene.workspaceId, row!.id)
}

const call = async (path: string) => {
  const key = await scene.service.key(scene.workspaceId)
  return await scene.service.call(`/v1/apps/${scene.appId}/${path}`, { key })
}

describe("the version of subscription reports", () => {
  slow("subscription reports are requested in the version that the console names", async () => {
    scene.standIn.before = (path) => {
      const report = requestedReport(path)
      if (!report?.type.startsWith("SUBSCRIPTION") || report.version === "1_7") return null
      return refusal(400, "PARAMETER_ERROR.INVALID", `${VERSION_MISSING} 1_7`)
    }
    await addWithDays(DAYS)
    await readHours(5)
    expect(await states("sales")).toEqual({ read: DAYS })
    expect(await states("subscription_events")).toEqual({ empty: DAYS })
    const [row] = await scene.sql`select failures, report_versions->>'subscriptions' as version from connected_account`
    expect(row).toEqual({ failures: 0, version: "1_7" })
    const versions = scene.standIn.requests.flatMap((path) => requestedReport(path)?.version ?? [])
    expect(new Set(versions)).toEqual(new Set(["1_7"]))
  })

  /**
   * Makes the console return subscription events for each day in its latest version, and an empty report for older
   * versions.
   */
  function outdatedConsole(latest: () => string): void {
    const row = { Event: "Renew", "App Apple ID": TEA.id, "Subscription Name": "Pro", Country: "DE", Quantity: "3" }
    scene.standIn.before = (path) => {
      const report = requestedReport(path)
      if (!report?.type.startsWith("SUBSCRIPTION")) return null
      if (report.version === null) return refusal(400, "PARAMETER_ERROR.INVALID", `${VERSION_MISSING} ${latest()}`)
      if (report.version === latest()) return null
      return refusal(404, "NOT_FOUND", "There were no sales for the date specified.")
    }
    scene.standIn.report = (type, day) => {
      if (type !== "SUBSCRIPTION_EVENT") return "no sales"
      return { tsv: table(EVENT_COLUMNS, [{ ...row, "Event Date": day, "Subscription Apple ID": "77" }]) }
    }
  }

  slow("a day is read again in the latest version if an outdated version reports the day as empty", async () => {
    outdatedConsole(() => "1_9")
    await addWithDays(DAYS)
    await readHours(3)
    expect(await states("subscription_events")).toEqual({ read: DAYS })
    expect(await states("subscriptions")).toEqual({ empty: DAYS })
  })

  slow("no day is stored as empty after its report version becomes outdated", async () => {
    let latest = "1_4"
    outdatedConsole(() => latest)
    await addWithDays(DAYS)
    await readHours(1)
    latest = "1_5"
    await readHours(3)
    expect((await states("subscription_events")).empty).toBeUndefined()
    const [sum] =
      await scene.sql`select count(*)::int as days from report_day where report = 'subscription_events' and rows = '[]'`
    expect(sum).toEqual({ days: 0 })
  })

  slow("an empty day counts as unknown if the console does not confirm the report version", async () => {
    scene.standIn.before = (path) => {
      const report = requestedReport(path)
      if (report?.type !== "SUBSCRIPTION_EVENT") return null
      if (report.version === null) return refusal(400, "PARAMETER_ERROR.INVALID", "Something is wrong.")
      return refusal(404, "NOT_FOUND", "There were no sales for the date specified.")
    }
    await scene.add()
    await readHours(1, 10)
    const events = await states("subscription_events")
    expect([events.empty, events.late]).toEqual([undefined, 3])
    expect((await account()).troubles).toContainEqual(
      expect.objectContaining({ why: expect.stringMatching(/it is unclear whether the day is empty/) }),
    )
  })
})

slow("a refused day does not affect other days, and the owner sees which day failed and why", async () => {
  scene.standIn.before = (path) => {
    const report = requestedReport(path)
    const isGone = report?.type === "SALES" && report.day === BEFORE
    return isGone ? refusal(410, "GONE", "This report can no longer be had") : null
  }
  await addWithDays(DAYS)
  await readHours(5)
  expect(await states("sales")).toEqual({ late: 1, read: DAYS - 1 })
  expect(await states("subscriptions")).toEqual({ empty: DAYS })
  const reason = "the console answers 410 (GONE: This report can no longer be had)"
  expect((await account()).troubles).toEqual([
    { what: `sales of ${BEFORE}`, why: reason, isFailed: true, nextAt: expect.any(String) },
  ])
  const { body } = await call("revenue?days=7")
  expect(body.sources).toMatchObject([{ state: "ok", reportedDays: 6, why: `sales of ${BEFORE}: ${reason}` }])
  expect(body.days.find(({ day }: { day: string }) => day === BEFORE)).toMatchObject({
    reported: false,
    downloads: null,
  })
  // The first retry is an hour later; after that the gaps grow.
  const gaps: number[] = []
  for (let times = 0; times < 3; times++) {
    const [row] = await scene.sql`
      update account_task
      set next_at = now()
      where task = 'sales' and subject = ${BEFORE}
      returning tries`
    await readHours(1, 1)
    const [next] = await scene.sql`
      select extract(epoch from next_at - now()) / 3600 as hours from account_task
      where task = 'sales' and subject = ${BEFORE}`
    expect(row!.tries).toBe(times + 1)
    gaps.push(Math.round(Number(next!.hours)))
  }
  expect(gaps).toEqual([2, 4, 8])
})

slow(
  "a failure after late responses is retried in an hour, because late responses do not count as failures",
  async () => {
    scene.standIn.report = () => "late"
    await addWithDays(1)
    await readHours(1, 4)
    for (let times = 0; times < 3; times++) {
      await scene.sql`update account_task set next_at = now() where task = 'sales' and subject = ${YESTERDAY}`
      await readHours(1, 1)
    }
    scene.standIn.before = (path) =>
      requestedReport(path) ? refusal(410, "GONE", "This report can no longer be had") : null
    await scene.sql`update account_task set next_at = now() where task = 'sales' and subject = ${YESTERDAY}`
    await readHours(1, 1)
    const [row] = await scene.sql`
    select state, extract(epoch from next_at - now()) / 3600 as hours
    from account_task
    where task = 'sales' and subject = ${YESTERDAY}`
    expect([row!.state, Math.round(Number(row!.hours))]).toEqual(["late", 1])
  },
)

slow("a report that the key's role may not read is requested once a day, until the role permits it", async () => {
  let isDenied = true
  let refused = 0
  scene.standIn.before = (path) => {
    if (!isDenied || requestedReport(path)?.type !== "SUBSCRIPTION_EVENT") return null
    refused++
    return refusal(403, "FORBIDDEN_ERROR", "This key may not do that")
  }
  const { id } = await addWithDays(DAYS)
  await readHours(5)
  expect([await states("sales"), await states("subscriptions")]).toEqual([{ read: DAYS }, { empty: DAYS }])
  expect(await states("subscription_events")).toEqual({ denied: DAYS })
  const { rights, state, troubles } = await account()
  expect(state).toBe("ok")
  expect(rights).toContainEqual({
    name: "subscription_events",
    state: "denied",
    why: "needs the role Sales, Finance or Admin",
  })
  expect(troubles).toMatchObject([
    {
      what: `subscription events of ${DAYS} days from ${addDays(YESTERDAY, 1 - DAYS)} to ${YESTERDAY}`,
      isFailed: true,
    },
  ])
  expect(refused).toBe(1)
  const { body } = await call("subscriptions")
  expect(body.sources).toMatchObject([
    { report: "subscription_events", state: "limited", why: expect.stringContaining("not include this request") },
    { report: "subscriptions", state: "ok", why: null },
  ])
  isDenied = false
  await testAccount(scene.register, scene.workspaceId, id)
  await readHours(4)
  expect(await states("subscription_events")).toEqual({ empty: DAYS })
  expect((await account()).rights).toContainEqual({ name: "subscription_events", state: "ok", why: null })
  expect((await account()).troubles).toEqual([])
})

slow("the terminal and the revenue page show which day failed and why", async () => {
  scene.standIn.before = (path) =>
    requestedReport(path)?.day === BEFORE ? refusal(410, "GONE", "This report can no longer be had") : null
  await addWithDays(DAYS)
  await readHours(1)
  const lines = troubleLines((await account()).troubles)
  const reason = "the console answers 410 (GONE: This report can no longer be had)"
  expect(lines).toContainEqual(expect.stringContaining(`not read: sales of ${BEFORE}: ${reason}; next try 20`))
  const sources = (await call("revenue?days=7")).body.sources
  expect(String((failureNote({ sources }) as Html).text)).toContain(`sales of ${BEFORE}: the console`)
})

slow("a day answered with status 500 pauses the account for a while, and the other days are read", async () => {
  scene.standIn.before = (path) => {
    const report = requestedReport(path)
    return report?.type === "SALES" && report.day === YESTERDAY ? new Response("<html>", { status: 500 }) : null
  }
  await scene.add()
  await readHours(2, 12)
  expect((await states("sales")).read).toBeGreaterThan(1)
  expect((await account()).troubles).toContainEqual(
    expect.objectContaining({ what: `sales of ${YESTERDAY}`, why: "the console answers 500" }),
  )
})

slow("tokens rejected because the clock is ten minutes ahead are explained, and the key is not revoked", async () => {
  const { id } = await scene.add()
  const now = () => new Date(Date.now() + 10 * 60_000)
  const reach = { now, to: () => ({ ...scene.register.reach.to("api.appstoreconnect.apple.com"), now }) }
  const parts = { sql: scene.sql, sealer, log: silentLog, reach, now, gapMs: 0 }
  for (let times = 0; times < 2; times++) {
    await scene.sql`
      update connected_account set next_at = now(), refused_since = now() - interval '11 minutes', checked_at = now()`
    await createAccountReading({ recording, ...parts }).runOnce()
  }
  const { state, failure } = await findAccount(scene.sql, scene.workspaceId, id)
  expect(state).toBe("ok")
  expect(failure).toMatch(/this machine's clock is (9|10) minutes ahead of the platform's/)
  const problem = await testAccount({ ...scene.register, reach }, scene.workspaceId, id).catch(({ message }) => message)
  expect(problem).toMatch(/set the clock/)
})

test("an account with an unknown vendor number is limited, and the reason names the vendor number", async () => {
  scene.standIn.vendor = "85099999"
  const add = scene.add
  scene.standIn.before = (path) =>
    requestedReport(path) ? refusal(400, "PARAMETER_ERROR.INVALID", "Invalid vendor number specified.") : null
  const added = await add()
  expect(added).toMatchObject({ state: "limited", why: expect.stringMatching(/check the vendor number/) })
  scene.standIn.before = (path) => (requestedReport(path) ? new Response("", { status: 500 }) : null)
  const other = await add(scene.standIn.key())
  expect(other.rights.find(({ name }) => name === "sales")).toMatchObject({
    state: "unknown",
    why: expect.stringMatching(/answers 500 for the vendor number 85099999; check the vendor number/),
  })
})

slow("an unexpected error stops only its own task, and the owner sees the error", async () => {
  await scene.sql`
    create function spoil() returns trigger language plpgsql as $$
    begin
      if new.report = 'sales' and new.day = ${scene.sql.unsafe(`'${YESTERDAY}'`)} then raise exception 'spoilt'; end if;
      return new;
    end $$`
  await scene.sql`create trigger spoil before insert on report_day for each row execute function spoil()`
  await scene.add()
  await readHours(3, 12)
  const requests = scene.standIn.requests.filter(
    (path) => requestedReport(path)?.type === "SALES" && path.includes(YESTERDAY),
  )
  expect(requests).toHaveLength(1)
  expect((await states("sales")).read).toBeGreaterThan(1)
  expect((await account()).troubles).toContainEqual(
    expect.objectContaining({ what: `sales of ${YESTERDAY}`, why: "unexpected error: spoilt" }),
  )
})
