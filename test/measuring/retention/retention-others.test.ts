import { beforeAll, beforeEach, describe, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { rebuildNow } from "../../../src/keywords/store/now.ts"
import { listIds } from "../../../src/measuring/record/identities.ts"
import { removeOld } from "../../../src/measuring/retention/remove-old.ts"
import type { RetentionDays } from "../../../src/measuring/retention/tables.ts"
import { RETENTION } from "../../../src/recording.ts"
import { EXAMPLE_ACCOUNT, holdAccount } from "../../consoles/reported.ts"
import { deleteRows, freshDatabase } from "../../database.ts"
import { owner } from "../../jobs/enqueued.ts"
import { slow } from "../../long.ts"

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
    "keyword_metric",
    "keyword_now",
  )
})

async function counted(db: Sql, table: string): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from ${db(table)}`
  return row!.count
}

describe("retention of other tables", () => {
  test("calculated metrics are deleted once no history shows them, and published popularities stay", async () => {
    const days = [0, 30, 89, 95, 120, 400]
    const [list] = await sql.begin((tx) => listIds(tx, [{ platform: "ios", storefront: "us", term: "tide table" }]))
    for (const [formula, source] of [
      [1, "estimate"],
      [0, "apple-ads-report"],
    ])
      await sql`
        insert into keyword_metric (list_id, metric, day, source, seen_at, score, formula, parts)
        select ${list!}, 'popularity', (now() at time zone 'utc')::date - d, ${source!}, now() - d * interval '1 day',
          9, ${formula!}, '{}'
        from unnest(${days}::int[]) d`
    const agesOf = async (source: string) =>
      (
        await sql<{ age: number }[]>`
          select (now() at time zone 'utc')::date - day as age
          from keyword_metric
          where source = ${source}
          order by age`
      ).map(({ age }) => age)
    expect(await removeOld(sql, RETENTION, FOR_EVER, { ...quick, chunk: 1 })).toMatchObject({ keyword_metric: 2 })
    expect(await agesOf("estimate")).toEqual([0, 30, 89, 95])
    expect(await agesOf("apple-ads-report")).toEqual(days)
    expect((await rebuildNow(sql, async () => {})).figures).toBe(0)
  })

  slow("attempts are deleted by their own time, also if they were imported late", async () => {
    await sql`
      insert into attempt (at, kind, subject, storefront, platform, source, outcome)
      select now() - (n * 37 % 200) * interval '1 day', 'search', n::text, 'us', 'ios', 'web', 'blocked'
      from generate_series(1, 400) n
      order by n`
    const [young] = await sql`select count(*) from attempt where at >= now() - interval '90 days'`
    expect((await removeOld(sql, RETENTION, FOR_EVER, quick)).attempt).toBe(0)
    await removeOld(sql, RETENTION, RETENTION_DAYS, quick)
    expect(await counted(sql, "attempt")).toBe(young!.count)
    expect(young!.count).toBeGreaterThan(0)
  })

  slow("hourly source counts and ended instance alerts are deleted after 90 days, and open alerts stay", async () => {
    await sql`
      insert into source_hour (source, hour, answered)
      select s, date_trunc('hour', now()) - n * interval '1 day', 5
      from generate_series(0, 199) n, unnest(array['apple-hints', 'play-search']) s`
    await sql`
      insert into instance_alert (kind, subject, detail, at, ended_at)
      select 'source_changed', n::text, 'x', now() - interval '1 year',
        case when n % 2 = 0 then now() - n * interval '1 day' end
      from generate_series(0, 199) n`
    expect(await removeOld(sql, RETENTION, FOR_EVER, quick)).toMatchObject({ source_hour: 0, instance_alert: 0 })
    expect(await removeOld(sql, RETENTION, RETENTION_DAYS, quick)).toMatchObject({
      source_hour: 2 * 110,
      instance_alert: 55,
    })
    const [remaining] = await sql`
      select (select min(hour) > now() - interval '91 days' from source_hour) as hours,
        (select count(*) from instance_alert where ended_at is null) as open,
        (select min(ended_at) > now() - interval '91 days' from instance_alert) as ended`
    expect(remaining).toEqual({ hours: true, open: 100, ended: true })
  })

  test("ended jobs are deleted by their end time, and queued and running jobs stay", async () => {
    const by = await owner(sql)
    await sql`
      insert into job (id, workspace_id, key_id, request_id, action, scope, target, shown, args, status, lease,
        lease_until, sent_at, finished_at, error, created_at)
      select 'job_' || n, ${by.workspaceId}, ${by.keyId}, n::text, 'set_bid', 'ads:write', n::text, '{}', '{}',
        s.status,
        case when s.status = 'running' then gen_random_uuid() end, case when s.status = 'running' then now() end,
        case when s.status in ('done', 'unknown') then now() end,
        case when s.status in ('done', 'failed', 'unknown') then now() - n % 180 * interval '1 day' end,
        case when s.status = 'failed' then '{}'::jsonb end, now() - interval '1 year'
      from generate_series(1, 500) n
      join unnest(array['queued', 'running', 'done', 'failed', 'unknown']) with ordinality s (status,
        i) on s.i = n % 5 + 1
      order by n`
    await removeOld(sql, RETENTION, RETENTION_DAYS, quick)
    const rows = await sql`
      select status, count(*)::int as jobs, coalesce(max(now()::date - finished_at::date) <= 90, true) as young
      from job
      group by status
      order by status`
    expect(rows.map(({ status, young }) => `${status} ${young}`)).toEqual([
      "done true",
      "failed true",
      "queued true",
      "running true",
      "unknown true",
    ])
    expect(rows.filter(({ status }) => /queued|running/.test(status)).map(({ jobs }) => jobs)).toEqual([100, 100])
    expect(rows.find(({ status }) => status === "done")?.jobs).toBeLessThan(60)
  })

  test("daily counts of Hive calls are deleted after 40 days, whatever the settings", async () => {
    const { workspaceId } = await owner(sql)
    await sql`
      insert into allowance_used (workspace_id, allowance, period, used)
      select ${workspaceId}, 'hive', (now() at time zone 'utc')::date - n, 1
      from generate_series(0, 60) n`
    expect((await removeOld(sql, RETENTION, FOR_EVER, quick)).allowance_used).toBe(20)
    expect(
      (await sql`select min(period) = (now() at time zone 'utc')::date - 40 as kept from allowance_used`)[0],
    ).toEqual({
      kept: true,
    })
  })

  test("old alerts are deleted with their deliveries, and a setting of 0 days keeps all alerts", async () => {
    const { workspaceId } = await owner(sql)
    await sql`
      insert into alert (workspace_id, type, subject, day, at, facts)
      select ${workspaceId}, 'weekly', n::text, current_date - n, now() - n * interval '1 day' - interval '1 hour', '{}'
      from unnest(array[1, 300, 364, 365, 366, 500]) n
      order by n desc`
    await sql`
      insert into channel (id, workspace_id, kind, shown, sealed)
      values ('channel', ${workspaceId}, 'slack', 'x', 'x')`
    await sql`
      insert into delivery (id, channel_id, alert_id, state, next_at, ended_at)
      select a.id::text, 'channel', a.id, 'delivered', null, now()
      from alert a
      order by a.id`
    await sql`insert into alert_to_deliver select id from alert where subject = '500'`
    expect((await removeOld(sql, RETENTION, FOR_EVER, quick)).alert).toBe(0)
    expect((await removeOld(sql, RETENTION, RETENTION_DAYS, quick)).alert).toBe(3)
    const remaining = await sql<{ subject: string; sent: number }[]>`
      select a.subject, count(d.id) as sent
      from alert a
      left join delivery d on d.alert_id = a.id
      group by a.subject
      order by a.subject::int`
    expect([...remaining]).toEqual(["1", "300", "364"].map((subject) => ({ subject, sent: 1 })))
    expect([await counted(sql, "delivery"), await counted(sql, "alert_to_deliver")]).toEqual([3, 0])
  })

  test("hints are deleted after 400 days, whatever the settings", async () => {
    await sql`
      insert into hint_answer (platform, storefront, prefix, day, source, seen_at, terms, parser, origin, sha256)
      select 'ios', 'us', 'te' || n % 3, (now() at time zone 'utc')::date - n, 'apple-hints', now(), '{tea}', 1, 'own',
        ''
      from generate_series(330, 450) n`
    expect((await removeOld(sql, RETENTION, FOR_EVER, quick)).hint_answer).toBe(50)
    const [remaining] = await sql`
      select count(*) as rows, min(day) = (now() at time zone 'utc')::date - 400 as kept
      from hint_answer`
    expect(remaining).toEqual({ rows: 71, kept: true })
  })

  test("replaced ads reports are deleted after 60 days, and the latest report is never deleted", async () => {
    await holdAccount(sql)
    await sql`
      insert into ads_report (account_id, report, about, day, digest, source, seen_at, parser, origin, sha256, rows)
      select ${EXAMPLE_ACCOUNT}, 'ads_days', '1', current_date - 400, n::text::bytea, 'apple-ads-days',
        now() - n * interval '1 day', 1, 'own', ''::bytea, '[]'::jsonb
      from unnest(array[59, 61, 90, 399]) n
      union all
      select ${EXAMPLE_ACCOUNT}, 'ads_days', '2', current_date - 400, ''::bytea, 'apple-ads-days',
        now() - interval '399 days', 1, 'own', ''::bytea, '[]'::jsonb`
    expect((await removeOld(sql, RETENTION, FOR_EVER, quick)).ads_report).toBe(3)
    const remaining =
      await sql`select about, extract(day from now() - seen_at)::int as age from ads_report order by about`
    expect([...remaining]).toEqual([
      { about: "1", age: 59 },
      { about: "2", age: 399 },
    ])
  })

  test("allowance units are deleted 40 days after they closed, and monthly counts stay", async () => {
    const { workspaceId } = await owner(sql)
    await sql`
      insert into allowance_unit (workspace_id, allowance, subject, period, opened_at, open_until)
      select ${workspaceId}, 'spy', n::text, '2025-01-01', now() - interval '1 year',
        now() - n * interval '1 day' - interval '1 hour'
      from unnest(array[-30, 0, 39, 40, 200]) n`
    await sql`
      insert into allowance_used (workspace_id, allowance, period, used)
        values (${workspaceId}, 'spy', '2025-01-01', 5)`
    expect((await removeOld(sql, RETENTION, FOR_EVER, quick)).allowance_unit).toBe(2)
    const remaining = await sql<{ subject: string }[]>`select subject from allowance_unit order by open_until desc`
    expect(remaining.map(({ subject }) => subject)).toEqual(["-30", "0", "39"])
    expect((await sql`select used from allowance_used`)[0]).toEqual({ used: 5 })
  })
})

describe.skipIf(!process.env.DATABASE_URL)("rows renewed during a clean-up", () => {
  test("postgres: a row renewed before or during the clean-up stays", async () => {
    const { workspaceId } = await owner(sql)
    await sql`
      insert into allowance_unit (workspace_id, allowance, subject, period, opened_at, open_until, requests)
      select ${workspaceId}, 'review_ai', n::text, '2026-01-01', '2026-01-01', '2026-01-02', '{x}'
      from generate_series(1, 3) n`
    await sql.begin(async (tx) => {
      await tx`update allowance_unit set open_until = now() + interval '1 day' where subject = '2'`
      expect((await removeOld(sql, RETENTION, FOR_EVER, quick)).allowance_unit).toBe(2)
    })
    expect((await removeOld(sql, RETENTION, FOR_EVER, quick)).allowance_unit).toBe(0)
    expect([...(await sql`select subject from allowance_unit`)]).toEqual([{ subject: "2" }])
  })
})
