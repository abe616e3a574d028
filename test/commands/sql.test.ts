import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import postgres from "postgres"
import { findSqlRolesOf, MONEY_VIEWS, REPORT_VIEWS, revokeSqlRole } from "../../src/access/sql-roles.ts"
import { createWorkspace, setWorkspace } from "../../src/access/workspaces.ts"
import { readText } from "../../src/database/assets.ts"
import type { Sql } from "../../src/database/types.ts"
import { CHART_SOURCE_CODES } from "../../src/lib/charts.ts"
import { SOURCE_CODES } from "../../src/lib/rank-sources.ts"
import { reviewLanguage } from "../../src/lib/review-language.ts"
import { STOREFRONTS } from "../../src/lib/storefronts.ts"
import { freshDatabase, scratchUrl } from "../database.ts"
import { errorOf } from "../error-of.ts"
import { longOnServer } from "../long.ts"
import { runHere } from "./here.ts"
import { escapes } from "./sql-escapes.ts"
import { fillLarge } from "./sql-large-world.ts"
import { fillReports, SECRET } from "./sql-world.ts"

setDefaultTimeout(180_000)

const IS_SERVER = Boolean(process.env.DATABASE_URL)
const MINE = "minemark"
const VIEWS: readonly string[] = [...REPORT_VIEWS, ...MONEY_VIEWS]

const messageOf = async (query: Promise<unknown>) => String(await errorOf(query))

interface Granted {
  role: string
  password: string
  url: string
}

test("the embedded database refuses sql grant, and the error explains how to copy the data to PostgreSQL", async () => {
  const { code, err } = await runHere(["sql", "grant", "acme"], { env: { DATA_DIR: "/nowhere" } })
  expect([code, err]).toEqual([1, expect.stringContaining("appmeter restore copy.backup")])
})

describe.skipIf(!IS_SERVER)("postgres: a role", () => {
  let sql: Sql
  let ownGrant: Granted
  let otherGrant: Granted
  let me: postgres.Sql
  const notices: string[] = []
  const ids: number[] = []
  const command = async (...words: string[]) => {
    const done = await runHere([...words, "--json"], { env: { DATABASE_URL: scratchUrl(sql) } })
    return { ...done, answer: done.code === 0 ? JSON.parse(done.out) : null }
  }
  const connect = ({ url }: Granted, max = 1) =>
    postgres(url, {
      max,
      prepare: false,
      fetch_types: false,
      onnotice: ({ message }) => notices.push(message ?? ""),
      connection: { application_name: "bi" },
    })

  beforeAll(async () => {
    sql = await freshDatabase()
    const workspaces = [MINE, SECRET].map((mark) => ({ name: `w ${mark}`, mark, id: 0 }))
    for (const workspace of workspaces) {
      workspace.id = (await createWorkspace(sql, { name: workspace.name, plan: "pro" })).id
      ids.push(workspace.id)
    }
    await fillReports(sql, workspaces)
    ownGrant = (await command("sql", "grant", `w ${MINE}`, "--money")).answer
    otherGrant = (await command("sql", "grant", `w ${SECRET}`, "--connections", "2")).answer
    me = connect(ownGrant)
    await me`set default_transaction_read_only = off`
    await me`set statement_timeout = '5s'`
  })
  afterAll(async () => {
    await me?.end({ timeout: 1 })
    for (const id of ids) for (const role of await findSqlRolesOf(sql, id)) await revokeSqlRole(sql, role)
  })

  /** Runs a query. Returns everything that the role can see of it. */
  async function runQuery(query: string): Promise<{ seen: string; failed: string | null }> {
    notices.length = 0
    let [seen, failed]: [string, string | null] = ["", null]
    try {
      seen = JSON.stringify(await me.unsafe(query))
    } catch (error) {
      failed = JSON.stringify([error, String(error), Object.values(error as object)])
    }
    return { seen: seen + notices.join() + (failed ?? ""), failed }
  }

  /** Runs statements in a transaction that is rolled back. */
  async function attempt(statement: string): Promise<{ seen: string; failed: string | null }> {
    await me`begin`
    const result = await runQuery(statement)
    await me`rollback`
    return result
  }

  test("a report role reads the rows of its workspace in every view", async () => {
    expect(await me`select * from report_apps order by platform`.then((rows) => [...rows])).toMatchObject([
      { app_name: `App ${MINE}`, platform: "android", store_id: "com.example.tea" },
      { app_name: `App ${MINE}`, platform: "ios", store_id: "1200000001", origin: "own" },
    ])
    const ranks = await me`
      select keyword, current_date - day as ago, rank, depth, source,
        extract(hour from measured_at at time zone 'utc') as hour
      from report_ranks
      where storefront = 'us'
      order by keyword, day desc`
    expect([...ranks]).toEqual([
      { keyword: "moon", ago: 1, rank: null, depth: 50, source: "apple-web-search", hour: "5" },
      { keyword: "tea", ago: 1, rank: 4, depth: 50, source: "apple-web-search", hour: "5" },
      { keyword: "tea", ago: 2, rank: 5, depth: 50, source: "apple-web-search", hour: null },
    ])
    const reviews = await me`select platform, storefront, language, title from report_reviews order by platform`
    expect([...reviews]).toEqual([
      { platform: "android", storefront: null, language: "en", title: MINE },
      { platform: "ios", storefront: "us", language: null, title: MINE },
    ])
    const charts = await me`select genre, rank, depth, source from report_charts order by genre`
    expect([...charts]).toEqual([
      { genre: "36", rank: null, depth: 100, source: "apple-charts" },
      { genre: "6007", rank: 2, depth: 100, source: "apple-charts" },
    ])
    const sales = await me`
      select platform, product, units, proceeds, proceeds_currency, source
      from report_revenue
      order by day desc`
    const stores = { ios: "app-store-connect", android: "google-play-console" }
    for (const [platform, source] of Object.entries(stores))
      expect(sales.filter((row) => row.platform === platform)).toEqual([
        { platform, product: MINE, units: 3, proceeds: "2.07", proceeds_currency: "USD", source },
        { platform, product: null, units: 0, proceeds: "0", proceeds_currency: null, source },
      ])
    const ads =
      await me`select campaign, storefront, impressions, installs, spend, currency from report_ads order by day desc`
    expect([...ads]).toEqual([
      { campaign: MINE, storefront: "us", impressions: 100, installs: null, spend: "1.5", currency: "USD" },
      { campaign: MINE, storefront: null, impressions: 0, installs: 0, spend: "0", currency: null },
    ])
    const keywords = await me`select keyword, match, taps from report_ad_keywords`
    expect([...keywords]).toEqual([{ keyword: MINE, match: "EXACT", taps: 9 }])
  })

  test("a report role without --money is refused the views about money", async () => {
    const other = connect(otherGrant)
    for (const view of MONEY_VIEWS)
      expect(await messageOf(other.unsafe(`select * from ${view}`))).toContain("permission denied")
    expect(await other`select distinct app_name from report_ranks`.then((rows) => [...rows])).toEqual([
      { app_name: `App ${SECRET}` },
    ])
    await other.end()
  })

  test("a report role sees nothing of another workspace in any table, view or sequence of any schema", async () => {
    const relations = await me<{ name: string; kind: string }[]>`
      select format('%I.%I', n.nspname, c.relname) as name, c.relkind as kind
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')`
    expect(relations.length).toBeGreaterThan(300)
    const readable: string[] = []
    for (const { name } of relations) {
      const { seen, failed } = await runQuery(`select x::text from ${name} x limit 20000`)
      expect([name, seen.includes(SECRET)]).toEqual([name, false])
      if (failed === null && !/^(pg_catalog|information_schema)\./.test(name)) readable.push(name)
    }
    expect(readable.sort()).toEqual(VIEWS.map((view) => `public.${view}`).sort())
  })

  test("a function in a report role's query never receives rows of another workspace", async () => {
    const columns = await me<{ view: string; column: string }[]>`
      select table_name as view, column_name as column
      from information_schema.columns
      where table_schema = 'public' and table_name like 'report%'`
    expect(columns.length).toBeGreaterThan(70)
    await me.unsafe(`
      create function pg_temp.leak(text) returns boolean language plpgsql cost 0.0000001 as
      $$ begin raise notice '%', $1; return true; end $$;
      create function pg_temp.leak_equals(text, text) returns boolean language plpgsql cost 0.0000001 as
      $$ begin raise notice '% %', $1, $2; return true; end $$;
      create operator pg_temp.=== (leftarg = text, rightarg = text, procedure = pg_temp.leak_equals)`)
    for (const { view, column } of columns) {
      for (const condition of [
        `pg_temp.leak(${column}::text)`,
        `${column}::text operator(pg_temp.===) 'x'`,
        `length(repeat(${column}::text, 1)) / 0 = 1`,
        `${column}::text::numeric = 1`,
        `case when ${column}::text ~ '${SECRET}' then 1 / position('%' in ${column}::text) end is null`,
      ]) {
        const { seen } = await runQuery(`select count(*) from ${view} where ${condition}`)
        // The echoed condition contains the text itself.
        expect([view, condition, seen.replaceAll(condition, "").includes(SECRET)]).toEqual([view, condition, false])
      }
      const failing = `case when ${column}::text ~ '${SECRET}' then 1 / position('%' in ${column}::text) end is null`
      const { failed } = await runQuery(`select count(*) from ${view} where ${failing}`)
      expect([view, column, failed]).toEqual([view, column, null])
    }
    const settings = await me<{ name: string; setting: string; values: string[] }[]>`
      select name, setting, to_json(case when vartype = 'bool' then array['on', 'off'] else enumvals end) as values
      from pg_settings
      where context = 'user' and vartype in ('bool', 'enum')`
    expect(settings.length).toBeGreaterThan(50)
    for (const { name, setting, values } of settings) {
      const value = values.find((each) => each !== setting) ?? setting
      const { seen } = await attempt(
        `set local "${name}" = '${value}'; select count(*) from report_ranks where pg_temp.leak(app_name || keyword)`,
      )
      expect([name, seen.includes(SECRET)]).toEqual([name, false])
    }
  })

  test("no function that a report role may execute returns data of another workspace", async () => {
    await sql`select lo_from_bytea(424242, ${SECRET}::bytea)`
    const functions = await me<{ name: string; args: string[]; system: boolean }[]>`
      select p.oid::regproc::text as name, coalesce((
          select json_agg(t::regtype::text order by place)
          from unnest(p.proargtypes::oid[]) with ordinality a (t, place)
        ), '[]') as args, n.nspname in ('pg_catalog', 'information_schema') as system
      from pg_proc p
      join pg_namespace n on n.oid = p.pronamespace
      where has_function_privilege(p.oid, 'execute') and p.prokind = 'f' and p.proname !~ '^(pg_sleep|binary_upgrade)'`
    const ownFunctions = functions.filter(({ system }) => !system)
    expect(ownFunctions.map(({ name }) => name)).toContain("spend")
    const pid = (await sql<[{ pid: number }]>`select pg_backend_pid() as pid`)[0].pid
    const values: Record<string, string> = {
      text: "'tracked_app'",
      name: "'tracked_app'",
      oid: "'tracked_app'::regclass",
      regclass: "'tracked_app'::regclass",
      integer: `${pid}`,
      bigint: "424242",
      jsonb: "'[]'",
      date: "current_date",
      boolean: "true",
      "integer[]": `'{${ids}}'`,
    }
    let called = 0
    for (const { name, args, system } of functions) {
      if (system && args.length > 2) continue
      if (!args.every((type) => !system || type in values)) continue
      const argumentList = args.map((type) => `${values[type] ?? "null"}::${type}`).join()
      const { seen } = await attempt(`select to_jsonb(x) from ${name}(${argumentList}) x limit 5000`)
      called++
      expect([name, seen.includes(SECRET)]).toEqual([name, false])
    }
    expect(called).toBeGreaterThan(400)
    // These functions leave out what the role may not read.
    for (const call of ["database_to_xml(true, true, '')", "schema_to_xml('public', true, true, '')"])
      expect([call, (await attempt(`select ${call}`)).seen.includes(SECRET)]).toEqual([call, false])
    const query = `select * from tracked_app where name ~ '${SECRET.slice(2)}'`
    for (const call of [
      `query_to_xml($q$${query}$q$, true, true, '')`,
      "table_to_xml('tracked_app', true, true, '')",
      "lo_get(424242)",
      "lo_export(424242, '/tmp/appmeter-leak')",
      "lo_import('/etc/passwd')",
      "pg_read_file('PG_VERSION')",
      "pg_read_binary_file('PG_VERSION')",
      "pg_ls_dir('.')",
      "pg_stat_file('PG_VERSION')",
      "pg_ls_logdir()",
      "pg_current_logfile()",
      `pg_cancel_backend(${pid})`,
      `pg_terminate_backend(${pid})`,
      "pg_create_logical_replication_slot('leak', 'test_decoding')",
      "set_config('session_authorization', 'postgres', false)",
      "nextval('workspace_id_seq')",
      "pg_sequence_last_value('workspace_id_seq')::text || 1 / 0",
    ]) {
      const { seen, failed } = await attempt(`select ${call}`)
      expect([call, seen.replaceAll(call, "").includes("zzsecret"), failed === null]).toEqual([call, false, false])
    }
  })

  test("a report role cannot become another role, write, or reach files, programs and other databases", async () => {
    const [{ owner }] = (await sql`select current_user as owner`) as unknown as [{ owner: string }]
    for (const statement of escapes({ owner, ownRole: ownGrant.role, otherRole: otherGrant.role })) {
      const { failed } = await attempt(statement)
      expect([statement, failed === null]).toEqual([statement, false])
    }
  })

  test("a report role's own tables, views and search_path do not change the rows that it can read", async () => {
    const { seen } = await attempt(`
      create temp table sql_role as
        select '${ownGrant.role}'::text as role, n as workspace_id, true as money from generate_series(1, 9) n;
      create temp table tracked_app (id text, workspace_id int);
      create temp view sql_reader as select n as workspace_id, true as money from generate_series(1, 9) n;
      create function pg_temp.current_user() returns name language sql as $$ select '${otherGrant.role}'::name $$;
      set local search_path = pg_temp, public;
      set local row_security = off;
      set local role none;
      prepare apps as select app_name from public.report_apps;
      execute apps;
      select string_agg(app_name, ',') from public.report_apps`)
    expect([seen.includes(`App ${MINE}`), seen.includes(SECRET)]).toEqual([true, false])
  })

  test("a report role can only read, and its connections and statement time are limited", async () => {
    const [first, second, third] = [connect(otherGrant), connect(otherGrant), connect(otherGrant)]
    await Promise.all([first`select 1`, second`select 1`])
    expect(await messageOf(third`select 1`)).toContain("too many connections for role")
    await second.end()
    expect(await messageOf(first`create temp table leak (id int)`)).toContain("read-only transaction")
    expect(await first`show statement_timeout`.then(([row]) => row!.statement_timeout)).toBe("1min")
    await first.end()
    const [{ name }] = (await sql`select current_database() as name`) as unknown as [{ name: string }]
    await sql`alter role ${sql(otherGrant.role)} in database ${sql(name)} set statement_timeout = '200ms'`
    const slow = connect(otherGrant)
    expect(await messageOf(slow`select count(*), pg_sleep(3) from report_ranks`)).toContain("statement timeout")
    await slow.end()
    await third.end()
  })

  test("a report role reads nothing while its workspace is suspended", async () => {
    await setWorkspace(sql, `w ${MINE}`, { suspended: true })
    for (const view of VIEWS) expect([view, (await me.unsafe(`select 1 from ${view}`)).length]).toEqual([view, 0])
    await setWorkspace(sql, `w ${MINE}`, { suspended: false })
    expect((await me`select 1 from report_apps`).length).toBe(2)
  })

  test("a report role can run every query in the manual, and the manual names every column of the views", async () => {
    const page = readText("src/docs/manual/sql.md")
    const queries = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, query]) => query as string)
    expect(queries).toHaveLength(6)
    for (const query of queries) {
      const filled = query.replace(
        /\$__timeFilter\((\w+)\)/,
        "$1 between '2020-01-01T00:00:00Z' and '2030-01-01T00:00:00Z'",
      )
      expect([query, (await me.unsafe(filled)).length]).toEqual([query, expect.any(Number)])
      expect((await me.unsafe(filled)).length).toBeGreaterThan(0)
    }
    const undescribed = await me<{ view: string; column: string; text: string | null }[]>`
      select c.relname as view, a.attname as column, col_description(c.oid, a.attnum) as text
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
      where c.relkind = 'v' and c.relname like 'report%'`
    for (const { view, column, text } of undescribed)
      expect([view, column, text === null, page.includes(`\`${column}\``)]).toEqual([view, column, false, true])
  })

  test("the report views contain the names of sources and languages that the program uses", async () => {
    const [{ ranks, charts }] = (await sql`
      select pg_get_viewdef('report_ranks') as ranks, pg_get_viewdef('report_charts') as charts`) as unknown as [
      { ranks: string; charts: string },
    ]
    const parseNames = (text: string) =>
      Object.fromEntries(
        [...text.matchAll(/WHEN (\d+) THEN '([\w-]+)'/g)].map(([, code, name]) => [name, Number(code)]),
      )
    expect(parseNames(ranks)).toEqual(SOURCE_CODES)
    expect(parseNames(charts)).toEqual(CHART_SOURCE_CODES)
    const rows = await sql<{ storefront: string; language: string }[]>`select * from play_review_language`
    const languages = new Map(rows.map(({ storefront, language }) => [storefront, language]))
    for (const code of STOREFRONTS) expect([code, languages.get(code) ?? "en"]).toEqual([code, reviewLanguage(code)])
  })

  test("sql grant is refused if PUBLIC has more rights in the database than reading reports", async () => {
    const refusal = async (before: string, after: string) => {
      await sql.unsafe(before)
      const { code, err } = await command("sql", "grant", `w ${MINE}`)
      await sql.unsafe(after)
      expect(code).toBe(1)
      return err
    }
    expect(
      await refusal("grant create on schema public to public", "revoke create on schema public from public"),
    ).toContain("revoke create on schema public from public")
    expect(await refusal("grant select on alert to public", "revoke all on alert from public")).toContain(
      "revoke all on public.alert from public",
    )
    expect(
      await refusal(
        "create function leaky() returns text language sql security definer as 'select name from tracked_app limit 1'",
        "drop function leaky()",
      ),
    ).toContain("revoke execute on function leaky() from public")
    expect((await command("sql", "grant", `w ${MINE}`, "--role", otherGrant.role)).err).toContain(
      "choose another --role",
    )
    expect((await command("sql", "grant", `w ${MINE}`, "--role", "Robert'); --")).err).toContain("lower-case letters")
    expect((await sql`select 1 from sql_role`).length).toBe(2)
  })

  test("a repeated sql grant gives the report role a new password, which is stored only as a hash", async () => {
    const renewed = (await command("sql", "grant", `w ${MINE}`, "--role", ownGrant.role, "--money")).answer
    expect([renewed.role, renewed.password === ownGrant.password]).toEqual([ownGrant.role, false])
    const [row] = await sql`select rolpassword as hash from pg_authid where rolname = ${ownGrant.role}`
    expect(row!.hash).toMatch(/^SCRAM-SHA-256\$4096:[\w+/]{22}==\$[\w+/]{43}=:[\w+/]{43}=$/)
    const listed = (await command("sql", "list")).answer.roles
    expect(listed).toMatchObject([
      { role: ownGrant.role, workspace: `w ${MINE}`, money: true, connectionLimit: 3, openConnections: 1 },
      { role: otherGrant.role, workspace: `w ${SECRET}`, money: false, connectionLimit: 2 },
    ])
    const [audited] = await sql`select string_agg(typed, ' ') as typed from operator_action`
    expect(audited!.typed).not.toContain(renewed.password)
  })

  test("sql revoke drops a report role, and deleting a workspace also ends the access of open sessions", async () => {
    const named = (await command("sql", "grant", `w ${SECRET}`, "--role", "report_by_name", "--money")).answer
    expect((await command("sql", "revoke", "report_by_name")).answer).toEqual({
      revoked: "report_by_name",
      dropped: true,
    })
    expect(named.role).toBe("report_by_name")
    const open = connect(otherGrant)
    await open`select 1`
    const { answer } = await command("workspace", "delete", `w ${SECRET}`, "--force")
    expect(answer.roles).toEqual([{ role: otherGrant.role, dropped: true }])
    expect(await messageOf(open`select 1 from report_apps`)).not.toContain(SECRET)
    await open.end({ timeout: 0 })
    const remainingRoles =
      await sql`select rolname from pg_roles where rolname in ('report_by_name', ${otherGrant.role})`
    expect([...remainingRoles]).toEqual([])
  })

  longOnServer(
    "a report role's query of one day uses an index in every view, with 90 days of 1,000 keywords",
    async () => {
      const largeTables = await fillLarge(sql, MINE)
      expect(largeTables.length).toBeGreaterThan(10)
      for (const [view, column] of [
        ["report_ranks", "day"],
        ["report_reviews", "posted_at"],
        ["report_charts", "day"],
        ["report_revenue", "day"],
        ["report_ads", "day"],
        ["report_ad_keywords", "day"],
      ]) {
        const query = `select * from ${view} where ${column} >= current_date - 7`
        const plan = (await me.unsafe(`explain (costs off) ${query}`)).map((row) => row["QUERY PLAN"]).join("\n")
        const scans = [...plan.matchAll(/Seq Scan on (\w+)/g)].map(([, table]) => table as string)
        expect([view, scans.filter((table) => largeTables.includes(table))]).toEqual([view, []])
      }
      const [{ count }] =
        (await me`select count(*)::int from report_ranks where day >= current_date - 90`) as unknown as [
          { count: number },
        ]
      expect(count).toBeGreaterThan(60_000)
    },
  )
})
