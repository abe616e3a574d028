import { expect } from "bun:test"
import { randomBytes } from "node:crypto"
import { createKey, listKeys, pauseKey, revokeKey } from "../../src/access/key-register.ts"
import { createWorkspace } from "../../src/access/workspaces.ts"
import { readTree } from "../../src/database/assets.ts"
import { openDatabase } from "../../src/database/connect.ts"
import { countRows } from "../../src/database/copy.ts"
import { openEmbedded } from "../../src/database/embedded/open.ts"
import { setSteadyText, sumTable } from "../../src/database/rows.ts"
import { describeTables, tablesMadeBy } from "../../src/database/tables.ts"
import type { Sql, Tx } from "../../src/database/types.ts"
import { rebuildNow } from "../../src/keywords/store/now.ts"
import type { Observation } from "../../src/kinds.ts"
import { silentLog } from "../../src/lib/log.ts"
import { listed } from "../measuring/record/listed.ts"
import { marketed, named, shelved, soldBy } from "../measuring/record/public-facts.ts"
import { importLines, record } from "../record.ts"
import { type Answer, openService, type Service } from "../service.ts"
import { someWriter, type Writer } from "../writes/writer.ts"
import { fillAccounts } from "./filled/accounts.ts"
import { fillAssistants } from "./filled/assistants.ts"
import { fillEstimates } from "./filled/estimates.ts"
import { fillAssistant, fillOwner } from "./filled/owner.ts"

export const TABLES = tablesMadeBy(readTree("sql", ".sql"))

const NOW = new Date()
const DAY_MS = 86_400_000
const dayBefore = (days: number) => new Date(NOW.getTime() - days * DAY_MS).toISOString().slice(0, 10)

export interface Filled {
  writer: Writer
  /** A token that is not confirmed yet. */
  token: string
  jobs: string[]
}

/** Opens the service on a database with a fixed clock, so that the answers of two databases can be compared. */
export const serviceOver = (sql: Sql): Service => openService({ sql, now: () => NOW })

/** Inserts rows into every table: several months, every state, and texts that are easily damaged. */
export async function fill(sql: Sql): Promise<Filled> {
  const service = serviceOver(sql)
  const writer = await someWriter(service, { keywords: ["tea", "green tea", "matcha 抹茶"], countries: ["us", "de"] })
  await readings(sql)
  const usedToken = await writer.token("add_keywords", { appId: writer.app, keywords: ["oolong"] })
  expect((await writer.confirm(usedToken)).status).toBe(200)
  const token = await writer.token("add_keywords", { appId: writer.app, keywords: ["sencha"] })
  await keysOfEveryKind(sql)
  const jobs = await jobsOfEveryState(sql, writer.workspace)
  await rest(sql, writer)
  const counts = await countRows(sql, TABLES)
  expect(counts.map(({ name }) => name).sort()).toEqual(TABLES)
  return { writer, token, jobs }
}

/** Inserts many rows, for operations that must take some time. */
export async function fillUp(sql: Sql, lists: number): Promise<void> {
  await sql`
    insert into list (platform, storefront, term)
    select 'ios', 'us', 'bulk ' || g
    from generate_series(1, ${lists}::int) g`
  await sql`
    insert into search_results (list_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
    select l.id, ${dayBefore(1)}::date - d, 40, now(), 200, true, 1, 'own', sha256(l.term::bytea), l.ids
    from (
      select id, term, array(select abs(hashtext(term || ' ' || g)) % 30000 from generate_series(1, 200) g) as ids
      from list
      where term like 'bulk %'
      offset 0
    ) l, generate_series(0, 9) d`
}

/** Returns the exact answers of 30 calls. They cost credits, so the order matters. */
export async function recorded(sql: Sql, { writer: { app, key }, jobs }: Filled): Promise<string[]> {
  const service = serviceOver(sql)
  const answers: string[] = []
  for (const path of paths(app, jobs)) {
    const { status, text, credits } = await service.call(`/v1${path}`, { key })
    answers.push(`${path} ${status} ${credits.used} ${text}`)
  }
  expect(answers).toHaveLength(37 + jobs.length)
  expect(answers.filter((answer) => answer.split(" ")[1] === "200").length).toBeGreaterThan(20)
  return answers
}

/** Checks that new rows get new ids, the ledger adds up and protected rows cannot be changed. */
export async function livesOn(sql: Sql, { writer, token }: Filled): Promise<void> {
  const service = serviceOver(sql)
  const before = await newest(sql)
  expect((await service.call("/v1/apps", { key: writer.key })).status).toBe(200)
  const confirm = (confirmToken: string): Promise<Answer> =>
    service.call("/v1/actions/confirm", { key: writer.key, method: "POST", body: { confirmToken } })
  expect((await confirm(token)).body).toMatchObject({ status: "applied" })
  const preview = { action: "add_app", args: { iosId: "987654321", keywords: ["new"] } }
  const previewed = await service.call("/v1/actions", { key: writer.key, method: "POST", body: preview })
  expect((await confirm(previewed.body.confirmToken)).body).toMatchObject({ status: "applied" })
  const workspace = await service.workspace()
  const key = await service.key(workspace)
  expect((await service.call("/v1/account", { key })).status).toBe(200)
  const after = await newest(sql)
  for (const [table, id] of Object.entries(before)) expect([table, after[table]! > id]).toEqual([table, true])
  const [books] = await sql<{ same: boolean }[]>`
    select bool_and(a.used = coalesce((
      select sum(cost) from ledger where workspace_id = a.workspace_id and month = a.month
    ), 0)) as same
    from account a
    where a.workspace_id = ${writer.workspace}`
  expect(books?.same).toBe(true)
  for (const change of [sql`delete from audit`, sql`truncate audit`])
    expect(String(await change.catch((error: Error) => error))).toContain("audit is append-only")
}

/** Returns a checksum of every table by name. */
export async function sumsOf(sql: Sql): Promise<Record<string, string>> {
  return (await sql.begin(async (transaction) => {
    const tx = transaction as Tx
    await setSteadyText(tx)
    const sums: Record<string, string> = {}
    for (const table of await describeTables(tx, TABLES)) {
      const { rows, checksum } = await sumTable(tx, table)
      sums[table.name] = `${rows} ${checksum}`
    }
    return sums
  })) as Record<string, string>
}

async function readings(sql: Sql): Promise<void> {
  const lines = async function* () {
    for (const term of ["tea", "green tea", "matcha 抹茶", "never tracked"]) {
      for (let ago = 0; ago < 75; ago += 14) {
        const results = Array.from({ length: 20 }, (_, i) => ({
          id: String(100_000_001 + ((i * 7 + ago + 5) % 40)),
          name: `Té "\\n" ${i} \u2028\u0001`.slice(0, 40),
          ratings: (i + 1) * 1_000,
          rating: 4.1,
        }))
        const head = { kind: "search", source: "import", platform: "ios", storefront: ago % 4 ? "us" : "de", depth: 20 }
        yield JSON.stringify({ ...head, term, seenAt: `${dayBefore(ago + 1)}T03:25:01.530039Z`, results })
        yield JSON.stringify({ ...head, term, storefront: "us", seenAt: `${dayBefore(ago + 1)}T04:25:01Z`, results })
      }
    }
    yield JSON.stringify({
      kind: "attempt",
      source: "import",
      platform: "ios",
      storefront: "us",
      term: "tea",
      at: `${dayBefore(1)}T00:00:00.123456Z`,
      outcome: "blocked",
      detail: "a\tb\\c 'd' \"e\"",
    })
    yield* otherLines()
  }
  const { bad, recorded } = await importLines(sql, lines(), { now: () => NOW })
  expect([bad, recorded]).toEqual([[], 56])
  const pages = [3, 2].map((ago) => listed(`${dayBefore(ago)}T03:25:01.530Z`, { name: `Té "\\n" ${ago} \u2028` }))
  expect((await record(sql, pages, () => NOW)).recorded).toBe(2)
  expect((await record(sql, marketReadings(), () => NOW)).recorded).toBe(4)
}

function marketReadings(): Observation[] {
  const at = `${dayBefore(1)}T05:25:01.530Z`
  const market = { installs: 1_000_000_000_000, inAppLeast: 1.1e-7, inAppMost: 1.1, inAppCurrency: "JPY" }
  return [
    named(at, { genres: [{ id: "36", name: 'Té "\\n" \u2028' }] }),
    shelved(at, ["100000001", "100000002"], { complete: false }),
    soldBy(at, ['{"a\\",b}'], { id: "100000001", domain: "example.com" }),
    marketed(at, market),
  ]
}

function* otherLines(): Generator<string> {
  const head = { platform: "ios", storefront: "us", seenAt: `${dayBefore(1)}T03:25:01.530039Z` }
  const app = {
    id: "100000001",
    name: 'Té "\\n" \u2028',
    version: "4.1",
    price: 1.1e-7,
    currency: "USD",
    genre: "6008",
    genres: ["6008", "6007"],
    languages: ["en", "zu"],
    sizeBytes: 900_000_000_000,
    releasedAt: "2019-01-02T03:04:05.678Z",
    ratings: 10_000_000_000,
    rating: 4.1,
  }
  const ids = [app.id, "100000099"]
  yield JSON.stringify({ ...head, kind: "apps", source: "itunes-lookup", asked: ids, apps: [app] })
  const found = { asked: ["100000098"], apps: [{ id: "100000098", name: 'Té "\\n"' }], text: "té \u2028抹茶" }
  yield JSON.stringify({ ...head, kind: "apps", source: "itunes-search", ...found })
  const terms = ["matcha 抹茶", '{"a\\",b}']
  yield JSON.stringify({ ...head, kind: "hints", source: "apple-hints", prefix: "抹", terms })
  yield JSON.stringify({ ...head, kind: "hints", source: "apple-hints", prefix: "nothing", terms: [] })
  const chart = {
    source: "import",
    device: "ipad",
    chart: "grossing",
    genre: "36",
    egress: "de",
    apps: [{ id: app.id }],
  }
  yield JSON.stringify({ ...head, ...chart, kind: "chart" })
  const review = { id: "1362", stars: 1, title: 'Té "\\n"', text: "a\tb\\c \u2028", version: "4.1" }
  yield JSON.stringify({
    ...head,
    kind: "reviews",
    source: "apple-reviews",
    storeId: app.id,
    complete: true,
    reviews: [{ ...review, at: `${dayBefore(2)}T03:25:01-07:00` }],
  })
  const genres = [{ genre: 'Food & "Drink"', rank: 1, popularity: 97 }]
  for (const month of ["2025-08", "2025-09"])
    yield JSON.stringify({ kind: "popularity", storefront: "us", term: "tea", month, popularity: 71, genres })
}

async function keysOfEveryKind(sql: Sql): Promise<void> {
  const { name: workspace, id } = await createWorkspace(sql, { name: "kinds \\ of 'keys'", plan: "enterprise" })
  const make = (options: object) =>
    createKey(sql, { workspace, kind: "live", name: 'a "key" \\ 抹', ...options }, randomBytes)
  await make({ kind: "test" })
  await make({ ipAllowList: ["192.0.2.0/24", "2001:db8::/32"], monthlyBudget: 5, scopes: [] })
  await make({ expiresAt: new Date(NOW.getTime() + DAY_MS) })
  const [first, second] = await listKeys(sql, workspace)
  await pauseKey(sql, first!.id)
  await revokeKey(sql, second!.id)
  await sql`
    insert into allowance_used (workspace_id, allowance, period, used)
    values (${id}, 'hive', ${dayBefore(0)}, 3), (${id}, 'measurements', ${dayBefore(0)}, 2)`
  const deleted = await createWorkspace(sql, { name: "gone", plan: "free" })
  await sql`update workspace set deleted_at = now() where id = ${deleted.id}`
}

async function jobsOfEveryState(sql: Sql, workspaceId: number): Promise<string[]> {
  const [key] = await sql<{ id: number }[]>`select min(id) as id from api_key where workspace_id = ${workspaceId}`
  const ids: string[] = []
  for (const status of ["queued", "running", "done", "failed", "unknown"]) {
    const running = status === "running"
    const ended = ["done", "failed", "unknown"].includes(status)
    const preview = { summary: `Set the bid of ${status}.`, target: { kind: "keyword", id: status, name: "tea" } }
    const [row] = await sql<{ id: string }[]>`
      insert into job (id, workspace_id, key_id, request_id, action, scope, target, shown, args, before, status,
        attempts, lease, lease_until, sent_at, result, error, started_at, finished_at)
      values (${`job_${status}`}, ${workspaceId}, ${key!.id}, ${crypto.randomUUID()}, 'set_bid', 'ads:write', ${status},
        ${sql.json(preview)}, ${sql.json({ bid: 1.1e-7, deep: [null, { "": "\u0001" }] })}, 'null'::jsonb, ${status}, 1,
        ${running ? crypto.randomUUID() : null}, ${running ? NOW : null}, ${ended ? NOW : null},
        ${status === "done" ? sql.json({ bid: 2 }) : null},
        ${status === "failed" ? sql.json({ error: "asc_rejected" }) : null},
        ${NOW}, ${ended ? NOW : null})
      returning id`
    ids.push(row!.id)
  }
  return ids
}

async function rest(sql: Sql, { workspace, app }: Writer): Promise<void> {
  await sql`
    insert into operator_action (actor, command, typed, ended_at, exit_code)
    values ('ada@host', 'workspace set', 'own --plan studio', now(), 0), ('ada@host', 'import', 'a.jsonl', null, null)`
  await sql`insert into figure_due (platform, storefront, kind, subject) values ('ios', 'us', 'term', 'té \"\u2028')`
  await sql`
    with made as (
      insert into export (sha256, workspace_id, app_id, dataset, format, platform, country, columns, rows)
      values (sha256('抹茶'::bytea), ${workspace}, ${app}, 'keywords', 'csv', 'ios', 'us', '{term,"a b"}', 1)
      returning id
    )
    insert into export_part (export_id, place, lines)
    select id, 0, '["té \\"\u2028"]' from made`
  await sql`
    insert into app_rival (app_id, platform, storefront, rival, manual, terms, day)
    select ${app}, 'ios', 'us', min(id), true, 2, ${dayBefore(1)}::date from store_app
    union all
    select ${app}, 'ios', 'us', max(id), false, 1, null from store_app`
  await sql`
    with made as (
      insert into rank_import (app_id, platform, tool, file, imported_at)
      values (${app}, 'ios', 'Another "tool"', 'té \"\u2028.csv', now())
      returning id
    )
    insert into imported_rank (app_id, platform, storefront, term, tool, day, rank, import_id)
    select ${app}, 'ios', 'us', 'matcha 抹茶', 'Another "tool"', '2024-02-29', 7, id
    from made`
  await sql`
    insert into imported_days (app_id, platform, storefront, from_day, to_day, derived_with)
    values
      (${app}, 'ios', 'us', ${dayBefore(9)}::date, ${dayBefore(1)}::date, '{"rivals": {"1": {"name": "té"}}}'),
      (${app}, 'ios', 'de', ${dayBefore(9)}::date, ${dayBefore(9)}::date, null)`
  await sql`
    insert into sql_role (role, workspace_id, money)
    values ('appmeter_report_filled', ${workspace}, true)`
  await sql`
    insert into rating_quarter (app_id, storefront, quarter, source, origin, millions, days)
    select id, 'us', '2023-10-01', 'itunes-lookup', 'own', -1, array[null, 9223372036854775807, 0] from store_app`
  const facts = { before: null, after: [1.1e-7, { "": '"\u2028' }] }
  await sql`
    insert into alert (workspace_id, app_id, type, platform, storefront, subject, day, at, facts, read_at)
    values
      (${workspace}, ${app}, 'rank_drop', 'ios', 'us', '抹茶 "1"', ${dayBefore(1)}, now(), ${sql.json(facts)}, now()),
      (${workspace}, null, 'ads_fee', null, null, '', ${dayBefore(0)}, now(), 'null', null)`
  await sql`
    insert into alert_rule (workspace_id, type, channels, drop_by, keyword_scope, rival_scope, created_by)
    select ${workspace}::int, t.type, t.channels::text[], t.drop_by, t.scope, null, min(k.id)
    from api_key k, (values ('rank_drop', '{slack,webhook}', 5, 'tagged'), ('weekly', '{}', null, null))
      t (type, channels, drop_by, scope)
    where k.workspace_id = ${workspace}
    group by 1, 2, 3, 4, 5`
  await sql`
    insert into tool_question (id, key_id, answer)
    select 'ask_' || id, id, case when id % 2 = 0 then 'decline' end from api_key where workspace_id = ${workspace}`
  await sql`
    insert into channel (
      id, workspace_id, kind, shown, sealed, disabled, disabled_at, lease, lease_until, next_at, moved_from, moved_at
    )
    values
      (
        'ch_webhook', ${workspace}, 'webhook', 'https://x.example/"\\n"', 'v1.a.b.c', null, null, gen_random_uuid(),
        now(), now(), null, null
      ),
      (
        'ch_slack', ${workspace}, 'slack', 'https://slack.example/…', 'v1.a.b.d', 'status 404', now(), null, null,
        null, null, null
      ),
      ('ch_chat', ${workspace}, 'telegram', '-100', 'v1.a.b.e', null, null, null, null, null, '-1', now())`
  await sql`
    insert into alert_to_deliver (alert_id)
    select max(id) from alert`
  await sql`
    insert into delivery (id, channel_id, alert_id, state, attempts, next_at, ended_at, failure)
    select 'msg_1', 'ch_webhook', min(id), 'waiting', 3, now(), null, 'status 500' from alert
    union all
    select 'msg_2', 'ch_slack', min(id), 'undelivered', 10, null, now(), 'a\tb' from alert`
  await sql`
    insert into allowance_used (workspace_id, allowance, period, used)
    values (${workspace}, 'spy', '2024-01-01', 3)`
  await sql`
    insert into allowance_unit (workspace_id, allowance, subject, period, opened_at, open_until, requests)
    values
      (${workspace}, 'spy', 'ios us "1"', '2024-01-01', '2024-01-02T03:04:05.678Z', '2024-02-01T03:04:05.678Z', null)`
  await sql`
    insert into storefront_audit (app_id, started_at, storefronts, priority, finished_at, rows)
    select min(id), now() - interval '13 hours', '{us,de}'::text[], 1, now() - interval '12 hours',
      ${sql.json([facts])}::jsonb
    from store_app
    union all
    select min(id), now(), '{us,de}'::text[], 2, null, null from store_app`
  await sql`
    insert into plan_task (
      app_id, task_id, platform, storefront, field, current_text, proposed_text, page_seen_at, keywords,
      expected_value, goal
    )
    values (${app}, 'task_1', 'ios', 'us', 'subtitle', '', '抹茶 "1"', now(), ${sql.json([facts])}, 1.25, null)`
  await sql`
    insert into writer_text (
      kind, digest, lease, lease_until, value, model, version, made_at, failure, retry_after, answer, checks
    )
    values
      (
        'reply', 'a1', null, null, ${sql.json({ value: facts, dropped: [] })}, 'm "1"', 1, now(), null, null,
        sha256('b'), 1
      ),
      ('reply', 'a2', gen_random_uuid(), now(), null, null, null, null, 'busy', 9, null, null)`
  await sql`
    insert into listing_translation (app_id, locale, digest, allowance, unit, keeps_unit)
    values (${app}, 'de-DE', 'b "1"', 'listingWrites', 'c1', true)`
  await sql`insert into writer_day (day, input, output) values ('2024-01-02', 12345678901, 2)`
  await sql`insert into instance (key, value) values ('first_keys', 'shown')`
  await sql`
    insert into share_link (sha256, workspace_id, app_id, expires_at, password, content)
    values (sha256('a'), ${workspace}, ${app}, now() + interval '7 days', '$argon2id$v=19$m=1', ${sql.json(facts)})`
  await sql`
    insert into feed_link (sha256, workspace_id, app_id, key_id, dataset, format, platform, storefront, columns)
    select sha256('f'), ${workspace}::int, ${app}, null, 'alerts', 'atom', null, null, null::text[]
    union all
    select sha256('g'), ${workspace}, ${app}, min(id), 'ranks', 'csv', 'ios', 'us', '{term,rank}' from api_key
    where workspace_id = ${workspace}`
  await sql`insert into market_storefront (storefront, genres, since) values ('us', '{36,6015}', ${dayBefore(3)})`
  await sql`
    insert into ledger_month (workspace_id, month, operation, cost, from_pack, entries)
    values (${workspace}, '2024-01-01', 'list_apps', 9007199254740991, 0, 3)`
  await sql`
    insert into keyword_metric (list_id, metric, day, source, seen_at, score, formula, parts)
    select min(id), 'difficulty', ${dayBefore(1)}, 'estimate', now(), null, 1, '{"deep": [null, {"": 0.1}]}'
    from list`
  await rebuildNow(sql, async () => {})
  await sql`
    insert into pace (upstream, egress, base_gap_ms, gap_ms, refusals, refused_at)
    values ('apps.apple.com', 'default', 1000, 16000, 4, now())`
  await sql`
    insert into live_share (workspace_id, upstream, used_until)
    values (0, 'itunes.apple.com', now() + interval '9 s')`
  await sql`
    insert into reader (process, egress, reads)
    values (gen_random_uuid(), 'default', ${sql.json([{ kind: "search", storefronts: null }])})`
  await sql`
    insert into answered_country (upstream, egress, asked, answered, first_at, last_at)
    values ('play.google.com', 'default', 'us', 'pl', now(), now())`
  await sql`
    insert into source_hour (source, hour, answered, failed)
    values ('apple-web-search', date_trunc('hour', now()), 5, 1)`
  await sql`
    insert into source_state (source, answered_at, failed_at, failure, detail, failures)
    values ('apple-web-search', now(), now(), 'blocked', 'a\tb', 1)`
  await fillAccounts(sql, workspace, app)
  await fillEstimates(sql)
  await fillAssistants(sql, workspace, app)
  await fillOwner(sql, workspace)
  await fillAssistant(sql, workspace)
  await sql`
    insert into instance_alert (kind, subject, detail, ended_at)
    values
      ('source_blocked', 'apple-web-search', 'status 403', null),
      ('source_blocked', 'apple-web-search', 'x', now())`
}

function paths(app: string, jobs: string[]): string[] {
  const base = `/apps/${app}`
  return [
    "/account",
    "/usage",
    "/apps",
    base,
    `${base}/keywords`,
    `${base}/keywords?country=de`,
    `${base}/keywords?platform=android`,
    `${base}/keywords?country=fr`,
    `${base}/rivals`,
    `${base}/rivals?country=de`,
    `${base}/rivals?platform=ios`,
    `${base}/history`,
    `${base}/history?country=de`,
    "/search?q=tea",
    "/search?q=kettle",
    "/search?q=matcha",
    "/search?q=nothing",
    `/fetch?id=app:${app}`,
    "/fetch?id=app:nobody",
    `/search?q=${app}`,
    ...jobs.map((id) => `/jobs/${id}`),
    "/jobs/job_none",
    "/alerts",
    "/portfolio",
    `${base}/page`,
    `${base}/timeline`,
    `${base}/featuring`,
    `${base}/charts`,
    `${base}/chart-movers`,
    `${base}/reviews`,
    `${base}/reviews/stats`,
    `${base}/today`,
    `${base}/competition`,
    `${base}/storefront-audit`,
    "/apps/nobody",
    "/nowhere",
    "/account",
    "/usage",
  ]
}

async function newest(sql: Sql): Promise<Record<string, number>> {
  const [row] = await sql<Record<string, number>[]>`
    select (select max(id) from workspace)::int as workspace, (select max(id) from api_key)::int as api_key,
      (select max(id) from ledger)::int as ledger, (select max(id) from audit)::int as audit,
      (select max(id) from store_app)::int as store_app, (select max(id) from list)::int as list`
  return row!
}

/** Runs work on a folder that no process uses. */
export async function inFolder<T>(dataDir: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const database = await openEmbedded({ dataDir, as: "server", log: silentLog })
  try {
    return await work(database.sql)
  } finally {
    await database.close()
  }
}

/** Runs work on a server database. */
export async function inServer<T>(databaseUrl: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const database = await openDatabase({ databaseUrl, dataDir: "", as: "command", log: silentLog })
  try {
    return await work(database.sql)
  } finally {
    await database.close()
  }
}
