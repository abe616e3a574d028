import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { refund } from "../../../src/access/credits.ts"
import { openDatabase } from "../../../src/database/connect.ts"
import type { Sql, Tx } from "../../../src/database/types.ts"
import { type LogFields, silentLog } from "../../../src/lib/log.ts"
import { createCleaning, removeOld } from "../../../src/measuring/retention/remove-old.ts"
import type { RetentionDays } from "../../../src/measuring/retention/tables.ts"
import { RETENTION } from "../../../src/recording.ts"
import { chargeAlone } from "../../access/registered.ts"
import { dataFolder, removeFolders } from "../../commands/child.ts"
import { deleteRows, freshDatabase, scratchUrl } from "../../database.ts"
import { errorOf } from "../../error-of.ts"
import { bidJob, enqueued, owner } from "../../jobs/enqueued.ts"
import { long, longOnServer, slow } from "../../long.ts"
import { readRowCount } from "../rows-read.ts"

setDefaultTimeout(60_000)

const RETENTION_DAYS: RetentionDays = { ledgerDays: 1, attemptDays: 90, jobDays: 90, auditDays: 400, alertDays: 365 }
const FOR_EVER: RetentionDays = { ledgerDays: 0, attemptDays: 0, jobDays: 0, auditDays: 0, alertDays: 0 }
const quick = { chunk: 50, pauseMs: 0 }

let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  await deleteRows(
    sql,
    "ledger",
    "ledger_month",
    "attempt",
    "job",
    "job_step",
    "source_hour",
    "instance_alert",
    "hint_answer",
    "allowance_unit",
    "allowance_used",
    "delivery",
    "alert_to_deliver",
    "alert",
  )
})
afterAll(removeFolders)

/** Charges of the last 14 months in three workspaces, refunds among them; ids are not in time order. */
async function ledger(db: Sql, rows = 700): Promise<void> {
  await db`
    insert into workspace (id, name, plan)
    overriding system value
    select n, 'ledger ' || n, 'pro'
    from generate_series(9000, 9002) n
    on conflict do nothing`
  await db`
    insert into ledger (at, month, workspace_id, key_id, operation, cost, from_pack, request_id)
    select at, date_trunc('month', at at time zone 'utc')::date, 9000 + n % 3, 1, 'operation ' || n % 5,
      case when n % 11 = 0 then -(n % 7 + 1) else n % 7 + 1 end, case when n % 4 = 0 then 1 else 0 end, n::text
    from (
      select n, now() - (${rows}::int - n) * interval '14 months' / ${rows}::int as at
      from generate_series(1, ${rows}::int) n
    ) rows
    order by md5(n::text)`
}

/** Returns what every workspace spent per month and operation, from both tables. */
async function books(db: Sql): Promise<unknown[]> {
  return [
    ...(await db`
      select workspace_id, month, operation, sum(cost) as cost, sum(from_pack) as from_pack, sum(entries) as entries
      from (
        select workspace_id, month, operation, cost, from_pack, 1 as entries
        from ledger
        union all
        select workspace_id, month, operation, cost, from_pack, entries
        from ledger_month
      ) b
      group by workspace_id, month, operation
      order by 1, 2, 3`),
  ]
}

async function counted(db: Sql, table: string): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from ${db(table)}`
  return row!.count
}

/** Returns the same client, except that statement number `at` of a step, or its transaction, fails. */
function failing(at: number, when: "before" | "after"): Sql {
  let begun = 0
  return new Proxy(sql, {
    get(target, name) {
      if (name !== "begin") return Reflect.get(target, name)
      return (work: (tx: unknown) => Promise<unknown>) =>
        target.begin(async (tx) => {
          const current = ++begun
          if (current === at && when === "before") throw new Error("cut off")
          const result = await work(tx)
          if (current === at) throw new Error("cut off")
          return result
        })
    },
  })
}

describe("the ledger", () => {
  slow("the ledger is packed into monthly sums, except for the current and the previous month", async () => {
    await ledger(sql)
    const before = await books(sql)
    const recent = await sql`
      select *
      from ledger
      where month >= date_trunc('month', now() at time zone 'utc') - interval '1 month'
      order by id`
    // 50 rows a month; on 1 March the two months have 28 days
    expect(recent.length).toBeGreaterThan(40)
    const { ledger: removed } = await removeOld(sql, RETENTION, RETENTION_DAYS, quick)
    expect(removed).toBe(700 - recent.length)
    expect(await books(sql)).toEqual(before)
    expect([...(await sql`select * from ledger order by id`)]).toEqual([...recent])
    expect(await counted(sql, "ledger_month")).toBeLessThan(14 * 15)
  })

  slow("the ledger is unchanged by a second clean-up and by a setting of 0 days", async () => {
    await ledger(sql)
    await removeOld(sql, RETENTION, FOR_EVER, quick)
    expect([await counted(sql, "ledger"), await counted(sql, "ledger_month")]).toEqual([700, 0])
    await removeOld(sql, RETENTION, RETENTION_DAYS, quick)
    const after = [await books(sql), await counted(sql, "ledger")]
    expect((await removeOld(sql, RETENTION, RETENTION_DAYS, quick)).ledger).toBe(0)
    expect([await books(sql), await counted(sql, "ledger")]).toEqual(after)
  })

  test("the ledger keeps charges younger than the given days", async () => {
    await ledger(sql)
    await removeOld(sql, RETENTION, { ...RETENTION_DAYS, ledgerDays: 200 }, quick)
    const [row] = await sql`
      select min(at) > now() - interval '200 days' as kept, min(at) < now() - interval '197 days' as whole
      from ledger`
    expect(row).toEqual({ kept: true, whole: true })
  })

  slow("a charge that a queued job may still refund stays, and is refunded once", async () => {
    const by = await owner(sql)
    const requestId = crypto.randomUUID()
    await sql`update account set quota = 100, month = '2025-01-01' where workspace_id = ${by.workspaceId}`
    await chargeAlone(sql, { ...by, cost: 7, operation: "set_bid", requestId })
    await enqueued(sql, bidJob(by, { requestId }))
    // one transaction wrote both
    await sql.begin(async (tx) => {
      await tx`update ledger set at = now() - interval '300 days', month = '2025-01-01'`
      await tx`update job set created_at = now() - interval '300 days'`
    })
    const [waiting] = await sql<{ id: string }[]>`select id from job`
    expect((await removeOld(sql, RETENTION, RETENTION_DAYS, quick)).ledger).toBe(0)
    await sql`
      update job
      set status = 'failed', error = '{"error": "unavailable"}', finished_at = now()
      where id = ${waiting!.id}`
    expect((await sql`select sum(cost) as sum from ledger`)[0]).toEqual({ sum: 0 })
    await removeOld(sql, RETENTION, RETENTION_DAYS, quick)
    expect(await refund(sql, { ...by, cost: 7, operation: "set_bid", requestId })).toBeFalse()
  })

  slow("this month's charges equal the account's used credits before and after a clean-up", async () => {
    const by = await owner(sql)
    await ledger(sql)
    await sql`update ledger set workspace_id = ${by.workspaceId} where month < date_trunc('month', now())`
    await sql`delete from ledger where month >= date_trunc('month', now())`
    for (const cost of [3, 5]) await chargeAlone(sql, { ...by, cost, operation: "x", requestId: crypto.randomUUID() })
    const figures = async () => [
      ...(await sql`
        select a.used, sum(l.cost)::int as charged
        from account a
        join ledger l on l.workspace_id = a.workspace_id and l.month = a.month
        where a.workspace_id = ${by.workspaceId}
        group by a.used`),
    ]
    expect(await figures()).toEqual([{ used: 8, charged: 8 }])
    expect((await removeOld(sql, RETENTION, RETENTION_DAYS, quick)).ledger).toBeGreaterThan(0)
    expect(await figures()).toEqual([{ used: 8, charged: 8 }])
  })

  slow("a clean-up interrupted at any statement leaves correct totals, and the next one completes it", async () => {
    await ledger(sql, 300)
    const before = await books(sql)
    for (const when of ["before", "after"] as const) {
      for (let at = 1; at <= 5; at++) {
        const error = await errorOf(removeOld(failing(at, when), RETENTION, RETENTION_DAYS, { chunk: 20, pauseMs: 0 }))
        expect((error as Error).message).toBe("cut off")
        expect(await books(sql)).toEqual(before)
      }
    }
    await removeOld(sql, RETENTION, RETENTION_DAYS, quick)
    expect(await books(sql)).toEqual(before)
    const [remaining] = await sql`
      select count(*) as old
      from ledger
      where month < date_trunc('month', now() at time zone 'utc') - interval '1 month'`
    expect(remaining!.old).toBe(0)
  })
})

describe("the audit table", () => {
  const written = (days: number) => sql`
    insert into audit (at, workspace_id, key_id, request_id, action, scope, target, args, preview, credits)
    values (now() - ${days}::int * interval '1 day', 1, 1, ${`${days}`}, 'x', 'x', 'x', '{}', '{}', 0)`
  const ages = async () =>
    (await sql<{ request_id: string }[]>`select request_id from audit order by at, id`).map(({ request_id }) =>
      Number(request_id),
    )

  beforeAll(async () => {
    for (const days of [500, 401, 399, 366, 300, 1]) await written(days)
  })

  test("the audit table refuses updates, deletes outside the clean-up, and deletes of young rows", async () => {
    const refusals = await Promise.all(
      [sql`delete from audit where request_id = '500'`, sql`update audit set credits = 1`, sql`truncate audit`].map(
        errorOf,
      ),
    )
    expect(refusals.map((error) => (error as Error)?.message)).toEqual(Array(3).fill("audit is append-only"))
    const young = await errorOf(
      sql.begin(async (tx) => {
        await tx`select set_config('appmeter.audit_retention', 'on', true)`
        await tx`delete from audit where request_id = '300'`
      }),
    )
    expect((young as Error).message).toBe("audit keeps every row for a year")
    const changed = await errorOf(
      sql.begin(async (tx) => {
        await tx`select set_config('appmeter.audit_retention', 'on', true)`
        await tx`update audit set credits = 1 where request_id = '500'`
      }),
    )
    expect((changed as Error).message).toBe("audit is append-only")
    expect(await ages()).toEqual([500, 401, 399, 366, 300, 1])
  })

  slow("the clean-up deletes audit rows only if days are set, and other deletes stay refused", async () => {
    await removeOld(sql, RETENTION, FOR_EVER, quick)
    expect(await ages()).toHaveLength(6)
    expect((await removeOld(sql, RETENTION, RETENTION_DAYS, quick)).audit).toBe(2)
    expect(await ages()).toEqual([399, 366, 300, 1])
    expect(await errorOf(sql`delete from audit where request_id = '399'`)).toBeInstanceOf(Error)
  })
})

describe("a running server", () => {
  slow("a server cleans up repeatedly, logs what was deleted, and ends when it is stopped", async () => {
    await ledger(sql)
    const lines: [string, LogFields | undefined][] = []
    const log = (_: string, event: string, fields?: LogFields) => void lines.push([event, fields])
    const cleaning = createCleaning(
      { sql, retention: RETENTION, retentionDays: RETENTION_DAYS, log },
      { ...quick, firstMs: 1, everyMs: 1 },
    )
    cleaning.start()
    const deletions = () =>
      lines.filter(([event, fields]) => event === "rows_deleted" && fields?.operation === "ledger").length
    while (deletions() < 1) await Bun.sleep(10)
    await ledger(sql)
    while (deletions() < 2) await Bun.sleep(10)
    await cleaning.stop()
    await ledger(sql)
    const remaining = await counted(sql, "ledger")
    await Bun.sleep(50)
    expect(await counted(sql, "ledger")).toBe(remaining)
  })

  slow("a server searches for rating counts to pack once a day, not in every clean-up", async () => {
    await sql`insert into store_app (platform, store_id) values ('ios', '6446000009')`
    const days = ["20", "20", "20", "21", "21", "21"]
    const lookedAt: number[] = []
    let runs = 0
    const counting = new Proxy(sql, {
      get(target, name) {
        if (name !== "begin") return Reflect.get(target, name)
        return async (work: (tx: Tx) => Promise<unknown>) =>
          await target.begin(async (tx) => {
            const before = await readRowCount(tx, ["store_app"])
            const done = await work(tx)
            if ((await readRowCount(tx, ["store_app"])) > before) lookedAt.push(runs)
            return done
          })
      },
    })
    const now = () => new Date(`2025-11-${days[runs++] ?? "21"}T12:00:00Z`)
    const cleaning = createCleaning(
      { sql: counting, retention: RETENTION, retentionDays: RETENTION_DAYS, log: silentLog },
      { ...quick, firstMs: 1, everyMs: 1, now },
    )
    cleaning.start()
    while (runs < days.length) await Bun.sleep(5)
    await cleaning.stop()
    expect([...new Set(lookedAt)]).toEqual([1, 4])
  })

  test("a clean-up logs an unavailable database, and the next run tries again", async () => {
    const lines: string[] = []
    const unreachable = new Proxy(sql, { get: () => () => Promise.reject(new Error("away")) })
    const cleaning = createCleaning(
      {
        sql: unreachable,
        retention: RETENTION,
        retentionDays: RETENTION_DAYS,
        log: (_, event) => void lines.push(event),
      },
      { ...quick, firstMs: 1, everyMs: 1 },
    )
    cleaning.start()
    while (lines.length < 2) await Bun.sleep(5)
    await cleaning.stop()
    expect([...new Set(lines)]).toEqual(["retention_failed"])
  })
})

const CHILD = join(import.meta.dirname, "cleaning-process.ts")

/** Cleans up in a process of its own. `kill` ends it with SIGKILL after steps for that many rows. */
async function cleaned(at: object, killAfter: number): Promise<number> {
  const { DATABASE_URL: _, ...env } = process.env
  const child = Bun.spawn([process.execPath, CHILD, JSON.stringify({ ...at, kept: RETENTION_DAYS, killAfter })], {
    stdio: ["ignore", "ignore", "inherit"],
    env,
  })
  return await child.exited
}

long("an embedded database whose clean-up is killed between steps, repeatedly, keeps correct totals", async () => {
  const { DATA_DIR: dataDir } = await dataFolder()
  const open = () => openDatabase({ dataDir, as: "command", log: silentLog })
  let database = await open()
  await ledger(database.sql, 400)
  const before = await books(database.sql)
  await database.close()
  for (const steps of [3, 5]) expect(await cleaned({ dataDir }, steps)).toBe(137)
  expect(await cleaned({ dataDir }, 0)).toBe(0)
  database = await open()
  expect(await books(database.sql)).toEqual(before)
  expect(await counted(database.sql, "ledger")).toBeLessThan(70)
  await database.close()
})

describe("a database server", () => {
  const skipped = test.skipIf(!process.env.DATABASE_URL)

  longOnServer("postgres: four concurrent clean-ups, three of them killed, leave correct totals", async () => {
    await ledger(sql, 2_000)
    const before = await books(sql)
    const databaseUrl = scratchUrl(sql)
    expect((await Promise.all([3, 5, 9, 0].map((steps) => cleaned({ databaseUrl }, steps)))).at(-1)).toBe(0)
    await removeOld(sql, RETENTION, RETENTION_DAYS, quick)
    expect(await books(sql)).toEqual(before)
  })

  skipped("postgres: a clean-up returns at once without a change while another runs", async () => {
    await ledger(sql)
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(4726313907)`
      expect(new Set(Object.values(await removeOld(sql, RETENTION, RETENTION_DAYS, quick)))).toEqual(new Set([0]))
    })
    expect(await counted(sql, "ledger")).toBe(700)
    expect((await removeOld(sql, RETENTION, RETENTION_DAYS, quick)).ledger).toBeGreaterThan(0)
  })
})
