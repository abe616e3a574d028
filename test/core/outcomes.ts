import { SCOPES } from "../../src/access/scopes.ts"
import { type Operation, pathNames, toolInput } from "../../src/core/operation.ts"
import { readTree } from "../../src/database/assets.ts"
import type { Sql } from "../../src/database/types.ts"
import { kindsOf } from "../../src/due-kinds.ts"
import { deriveKeywordMetrics } from "../../src/keywords/store/keyword-metrics.ts"
import type { FaultCode } from "../../src/lib/faults.ts"
import type { Measure } from "../../src/lib/live-read.ts"
import { type Schema, unwrap } from "../../src/lib/schema.ts"
import { UPSTREAMS } from "../../src/lib/upstreams.ts"
import { createMeasure } from "../../src/measuring/measure.ts"
import { addTerms } from "../../src/tracking/terms.ts"
import { bidJob, enqueued } from "../jobs/enqueued.ts"
import { appsReading, hintsReading, reading } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { type Answer, type CallOptions, openService, type Service, type ToolAnswer } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"
import { MADE_TO_REPORT } from "./connected.ts"
import { damageSearches, forgetMarket, makeMarket, outdateMarket, repairSearches } from "./market.ts"
import { consoleSays } from "./outside.ts"
import { MADE_TO_WRITE, picturesThat, writerThat } from "./written.ts"

// Creates the situation for every outcome of every operation: a new workspace in which the operation's sample answers,
// and for each fault the change of the workspace or call that raises it.

export type Input = Record<string, unknown>

export interface Situation {
  service: Service
  workspaceId: number
  app: string
  key: string | undefined
  input: Input
  /** Parts that only HTTP has: a longer path, another method, body or header. */
  http: Pick<CallOptions, "method" | "headers" | "body"> & { below?: string }
}

export type Change = (situation: Situation) => Promise<unknown>

export interface Outcomes {
  /** Creates the sample's situation and applies a change to it. */
  open(operation: Operation, change?: Change): Promise<Situation>
  /** For each fault, the change that raises it in any operation that can raise it. */
  raised: Partial<Record<FaultCode, Change>>
}

const fixtures = readTree("fixtures/sandbox", ".json")
const SAMPLE_APP = "app_lumenjournal"
const OVERRIDES = { ratePerSecond: 100_000, credits: 100_000 }

export function outcomesOver(sql: Sql): Outcomes {
  const service = openService({ sql })
  const crowded = openService({ sql, settings: { maxWaiting: 0 } })
  const broken = openService({ sql: throwError as unknown as Sql })
  const busy = openService({ sql, measure: busyMeasure(sql) })

  const open = async (operation: Operation, change?: Change): Promise<Situation> => {
    await repairSearches(sql)
    const workspaceId = await service.workspace({ plan: "enterprise", explorer: true, overrides: OVERRIDES })
    const tracked = { workspaceId, iosId: "1437843273", countries: ["us"], keywords: ["journal"], origin: "own" }
    const app = await trackOwn(sql, tracked)
    // with every scope, because one is opt-in
    const key = await service.key(workspaceId, { scopes: SCOPES })
    const situation: Situation = { service, workspaceId, app, key, input: inputOf(operation.id, app), http: {} }
    if (operation.hive) await makeMarket(sql)
    await MADE[operation.id]?.(situation, sql)
    await change?.(situation)
    situation.input = namedAs(operation, situation.input)
    return situation
  }

  const updateWorkspace = (assigned: (sql: Sql) => unknown): Change => {
    return ({ workspaceId }) => sql`update workspace set ${assigned(sql) as never} where id = ${workspaceId}`
  }
  const ofKey = (assigned: (sql: Sql) => unknown): Change => {
    return ({ workspaceId }) => sql`update api_key set ${assigned(sql) as never} where workspace_id = ${workspaceId}`
  }
  const override = (limits: object): Change =>
    updateWorkspace((sql) => sql`overrides = overrides || ${sql.json(limits as never)}`)
  const withInput =
    (input: Input): Change =>
    async (situation) =>
      Object.assign(situation.input, input)
  const withHttp =
    (http: Situation["http"]): Change =>
    async (situation) =>
      Object.assign(situation.http, http)
  const withService =
    (service: Service): Change =>
    async (situation) =>
      Object.assign(situation, { service })

  /** Returns the change for subjects that were never read: the live read ends with the given result. */
  const reads = (measure: Measure): Change => {
    const changedService = openService({ sql, measure })
    return async (situation) => {
      await forget(situation)
      await sql`delete from due where subject = 'journal'`
      Object.assign(situation, { service: changedService })
    }
  }

  const forget: Change = async () => {
    await sql`delete from app_ads`
    await sql`delete from app_storefront`
    await forgetMarket(sql)
  }

  const onPlayAlone: Change = async ({ app }) => {
    await sql`
      with play as (
        insert into store_app (platform, store_id)
        values ('android', 'com.example.' || replace(${app}::text, '_', ''))
        returning id
      )
      update tracked_app set ios_app = null, android_app = play.id from play where tracked_app.id = ${app}`
  }

  const ofConsole = (code: FaultCode) => consoleSays(sql, code)

  const raised: Outcomes["raised"] = {
    missing_api_key: async (situation) => Object.assign(situation, { key: undefined }),
    invalid_api_key: async (situation) => Object.assign(situation, { key: `svc_live_${"a".repeat(36)}` }),
    invalid_token: async (situation) => Object.assign(situation, { key: `svc_access_${"a".repeat(36)}` }),
    account_deleted: updateWorkspace((sql) => sql`deleted_at = now()`),
    key_expired: ofKey((sql) => sql`expires_at = now()`),
    key_revoked: ofKey((sql) => sql`revoked_at = now()`),
    key_leaked: ofKey((sql) => sql`leaked_at = now()`),
    key_paused: ofKey((sql) => sql`paused_at = now()`),
    key_limit: override({ liveKeys: 0 }),
    workspace_suspended: updateWorkspace((sql) => sql`suspended_at = now()`),
    ip_list_required: updateWorkspace((sql) => sql`ip_list_required = true`),
    ip_not_allowed: ofKey((sql) => sql`ip_allow_list = '{192.0.2.1}'`),
    key_budget_reached: ({ workspaceId }) => sql`update key_month set budget = 0 where workspace_id = ${workspaceId}`,
    credits_exhausted: ({ workspaceId }) => sql`update account set quota = 0 where workspace_id = ${workspaceId}`,
    plan_required: updateWorkspace((sql) => sql`plan = 'free'`),
    scope_required: ofKey((sql) => sql`scopes = '{}'`),
    app_not_allowed: ofKey((sql) => sql`app_list = '{app_other}'`),
    explorer_required: updateWorkspace((sql) => sql`explorer = false`),
    daily_hive_limit: ({ workspaceId }) => sql`
      insert into allowance_used (workspace_id, allowance, period, used)
      values (${workspaceId}, 'hive', (now() at time zone 'UTC')::date, 10000)`,
    test_key_read_only: ofKey((sql) => sql`kind = 'test'`),
    rate_limited: override({ ratePerSecond: 0 }),
    write_limit_reached: override({ trackedKeywords: 1 }),
    not_found: ({ app }) => sql`delete from tracked_app where id = ${app}`,
    invalid_arguments: withInput({ colour: "red" }),
    bad_country: withInput({ country: "zz" }),
    bad_term: withInput({ term: " " }),
    unsupported_platform: (situation) =>
      isAboutOwnApp(situation) ? onPlayAlone(situation) : withInput({ platform: "android" })(situation),
    bad_query: withInput({ q: "x".repeat(201) }),
    bad_id: withInput({ id: "nothing" }),
    bad_app_id: async ({ input }) => {
      for (const name of ["rivalId", "appId", "id", "app"]) if (name in input) input[name] = "nothing"
    },
    async not_measured(situation) {
      if ("locale" in situation.input)
        return await sql`
          delete from listing_run
          where app_id in (select ios_app from tracked_app where id = ${situation.app})`
      if (!isAboutOwnApp(situation)) {
        // an app that is not stored
        for (const name of ["appId", "id"])
          if (name in situation.input && !("rivalId" in situation.input)) situation.input[name] = "1699999999"
        return await forget(situation)
      }
      // removes a console's data, a page's changes, or a store's app
      await sql`
        delete from listing_change where app_id in (select ios_app from tracked_app where id = ${situation.app})`
      const accounts = sql`select id from connected_account where workspace_id = ${situation.workspaceId}`
      await sql`delete from analytics_day where account_id in (${accounts})`
      await sql`delete from price_day where account_id in (${accounts})`
      for (const table of ["ads_report", "ads_change_fact_row", "ads_term_fact_row", "ads_term_popularity_row"])
        await sql`delete from ${sql(table)} where account_id in (${accounts})`
      const { count: taskCount } = await sql`delete from account_task where account_id in (${accounts})`
      const events = await sql`delete from billing_event where account_id in (${accounts})`
      const { count } = await sql`delete from report_day where account_id in (${accounts})`
      return taskCount + events.count + count > 0 || (await onPlayAlone(situation))
    },
    not_connected: (situation) =>
      "action" in situation.input || "confirmToken" in situation.input
        ? ofConsole("not_connected")(situation)
        : sql`delete from connected_account where workspace_id = ${situation.workspaceId}`,
    ai_limit: override({ aiVisibility: 0 }),
    already_measuring: ({ app, workspaceId }) => sql`
      insert into ai_check (id, workspace_id, app_id, storefronts, request_id)
      values (${`check ${app}`}, ${workspaceId}, ${app}, '{us}', 'req')`,
    review_not_found: (situation) =>
      "reviewId" in situation.input
        ? withInput({ reviewId: "nothing" })(situation)
        : ofConsole("review_not_found")(situation),
    asc_required: ofConsole("asc_required"),
    asc_role: ofConsole("asc_role"),
    asc_rejected: ofConsole("asc_rejected"),
    asc_unavailable: ofConsole("asc_unavailable"),
    no_editable_version: ofConsole("no_editable_version"),
    locale_not_found: ofConsole("locale_not_found"),
    async ios_only(situation) {
      await ofConsole("ios_only")(situation)
      await onPlayAlone(situation)
    },
    review_ai_limit: override({ reviewAi: 0 }),
    ai_text_limit: override({ aiWriting: 0 }),
    ai_not_configured: withService(service),
    ai_failed: withService(openService({ sql, write: writerThat("unusable") })),
    async ai_timeout(situation) {
      // a listing in another language waits only until its screenshots are read
      if ("locale" in situation.input) situation.input.shots = true
      situation.service = openService({
        sql,
        write: writerThat("takes too long"),
        pictures: picturesThat("take too long"),
      })
    },
    bad_locale: withInput({ locale: "german" }),
    no_audit: () => sql`delete from storefront_audit`,
    no_storefront: withInput({ locale: "xx_yy" }),
    no_job: withInput({ poll: true }),
    localize_quota: override({ listingWrites: 0 }),
    audit_failed: ({ app }) => sql`
      insert into storefront_audit (app_id, started_at, storefronts, priority, finished_at, failed, rows)
      select ios_app, now() - interval '61 minutes', '{us}'::text[], 1, now(), true, '[]'::jsonb
      from tracked_app
      where id = ${app}`,
    bad_day: withInput({ day: "2999-01-01" }),
    bad_days: withInput({ days: 0 }),
    bad_wait: withInput({ wait: -1 }),
    bad_range: withInput({ to: "2025-13-01" }),
    bad_metrics: withInput({ metrics: ["nothing"] }),
    bad_kind: withInput({ kind: "nothing" }),
    bad_filter: withInput({ rankMin: 2, rankMax: 1 }),
    no_filters: async (situation) => Object.assign(situation, { input: {} }),
    bad_cursor: withInput({ cursor: "nothing" }),
    bad_ids: withInput({ ids: ["nothing"] }),
    bad_genre: withInput({ genre: "nothing" }),
    bad_goal: withInput({ goal: "nothing" }),
    async measure_busy(situation) {
      await forget(situation)
      situation.service = busy
      await queueUp(sql)
    },
    hive_read_failed: () => damageSearches(sql),
    hive_write_failed: reads(async () => ({ state: "failed", why: "unstored" })),
    hive_measurement_unavailable: reads(async () => ({ state: "failed", why: "off" })),
    hive_measurement_queue_failed: reads(() => Promise.reject(new Error("no room for it"))),
    hive_measurement_failed: reads(async () => ({ state: "failed", why: "changed" })),
    hive_measurement_deferred: reads(async () => ({ state: "failed", why: "rate_limited" })),
    hive_measurement_incomplete: reads(async () => ({ state: "fresh", measuredAt: new Date() })),
    hive_measurement_not_started: reads(async () => ({ state: "pending", eta: 1 })),
    unknown_action: withInput({ action: "nothing" }),
    confirm_token_invalid: withInput({ confirmToken: "confirm_nothing" }),
    confirm_token_expired: ({ workspaceId }) =>
      sql`update confirm_token set created_at = now() - interval '601 s' where workspace_id = ${workspaceId}`,
    confirm_token_mismatch: ({ app }) => sql.begin((tx) => addTerms(tx, app, "all", ["habit journal"])),
    in_progress: ({ app, workspaceId }) => enqueued(sql, bidJob({ workspaceId, keyId: 1 }, { target: `app ${app}` })),
    job_not_found: withInput({ jobId: "job_nothing" }),
    internal_error: withService(broken),
    unavailable: withService(crowded),
    key_in_url: withHttp({ below: "?key=svc_live_abc" }),
    unknown_endpoint: withHttp({ below: "/nowhere/at/all" }),
    method_not_allowed: withHttp({ method: "DELETE" }),
    body_too_large: withHttp({ body: { text: "x".repeat(70_000) } }),
    headers_too_large: withHttp({ headers: { "x-note": "x".repeat(20_000) } }),
    unsupported_media_type: withHttp({ headers: { "content-type": "text/plain" } }),
  }
  return { open, raised }
}

/** Input names, for operations that name an input differently from the changes. */
const OTHER_NAMES: Record<string, string> = { country: "cc", term: "seed" }

function namedAs({ input: { entries } }: Operation, values: Input): Input {
  const named = Object.entries(values).map(([name, value]) => {
    const other = OTHER_NAMES[name] as string
    const entryName = name in entries || !(other in entries) ? name : other
    const takesSeveral =
      entryName in entries && (unwrap(entries[entryName] as Schema) as { type: string }).type === "array"
    return [entryName, takesSeveral && !Array.isArray(value) ? [value] : value]
  })
  return Object.fromEntries(named)
}

function isAboutOwnApp({ input, app }: Situation): boolean {
  return input.appId === app && !("rivalId" in input)
}

/** Calls an operation over REST: inputs outside the path become the query of a GET or the body of a POST. */
export function overRest(operation: Operation, { service, key, input: values, http }: Situation): Promise<Answer> {
  const { method, path } = operation
  const { below = "", ...options } = http
  // REST does not have the tool's defaults, so they are sent
  const input = toolInput(operation, values)
  const inPath = pathNames(path)
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(input[name])))
  const rest = Object.entries(input).filter(([name]) => !inPath.includes(name))
  const body = method === "POST" ? Object.fromEntries(rest) : undefined
  const query = new URLSearchParams(method === "GET" ? rest.map(([name, value]) => [name, String(value)]) : [])
  const search = query.size > 0 && !below ? `?${query}` : ""
  return service.call(`/v1${filled}${below}${search}`, { method, key, body, ...options })
}

/** Makes the same call as a tool. */
export function asTool({ id }: Operation, { service, key, input }: Situation): Promise<ToolAnswer> {
  return service.tool(id, input, { key })
}

const throwError = () => {
  throw new Error("relation does not exist")
}

const QUEUED = "a queue of its own"

/** Returns live reads whose turn is five minutes away. */
function busyMeasure(sql: Sql): Measure {
  const kinds = kindsOf({ egressCountry: "us" })
  return createMeasure({
    sql,
    kinds,
    egress: QUEUED,
    now: () => new Date(),
    isReading: () => true,
    nudge() {},
    onEnded() {},
  })
}

async function queueUp(sql: Sql): Promise<void> {
  await sql`
    insert into pace (upstream, egress, next_at, base_gap_ms, gap_ms)
    select unnest(${UPSTREAMS as unknown as string[]}::text[]), ${QUEUED}, now() + interval '5 minutes', 0, 0
    on conflict (upstream, egress) do update
    set next_at = excluded.next_at`
}

/** Adds the rival of the samples by hand, with a look-up of today. */
async function addCheckedRival({ app, input }: Situation, sql: Sql): Promise<void> {
  const { rivalId } = input as { rivalId: string }
  await sql`update tracked_app set manual_rivals = array['ios:' || ${rivalId}::text] where id = ${app}`
  const [rival] = await sql<{ id: number }[]>`
    insert into store_app (platform, store_id)
    values ('ios', ${rivalId})
    on conflict (platform, store_id) do update
    set store_id = excluded.store_id
    returning id`
  await sql`
    insert into app_storefront (app_id, storefront, source, seen_at, available, parser, origin, sha256)
    values (${rival!.id}, 'us', 'itunes-lookup', now(), true, 1, 'own', '')
    on conflict do nothing`
  await sql`
    insert into app_ads (app_id, day, seen_at, source, state, records, variables, parser, origin, sha256)
    values (${rival!.id}, current_date, now(), 'app-ads-txt', 'no_site', '[]', '{}', 1, 'own', '')
    on conflict do nothing`
}

/** Stores today's metrics of the samples' keyword. */
async function measuredToday(_: Situation, sql: Sql): Promise<void> {
  const list = { platform: "ios", storefront: "us", term: "journal" } as const
  const at = new Date().toISOString()
  const ids = Array.from({ length: 10 }, (_, i) => String(9_990_000_101 + i))
  await record(sql, [
    reading(list.term, at, ids, { source: "apple-web-search", depth: 200 }),
    appsReading(
      at,
      ids.map((id) => ({ id, name: `Journal ${id}`, ratings: 1_000 })),
    ),
    hintsReading(list.term, at, ["journal app"]),
  ])
  await sql.begin((tx) => deriveKeywordMetrics(tx, [list], new Date()))
  outdateMarket()
}

/**
 * The data that each operation needs before its sample answers. The key of a token was used, so that this service has
 * its caller in the cache.
 */
const MADE: Record<string, (situation: Situation, sql: Sql) => Promise<void>> = {
  ...MADE_TO_WRITE,
  ...MADE_TO_REPORT,
  get_rival: addCheckedRival,
  get_rival_ad_networks: addCheckedRival,
  get_rival_market: addCheckedRival,
  hive_measure_keyword: measuredToday,
  async get_job({ workspaceId, input }, sql) {
    input.jobId = await enqueued(sql, bidJob({ workspaceId, keyId: 1 }))
  },
  async confirm_action(situation, sql) {
    const { service, key, app } = situation
    const body = inputOf("preview_action", app)
    const previewed = await service.call("/v1/actions", { key, method: "POST", body })
    situation.input = { confirmToken: previewed.body.confirmToken }
    situation.service = openService({ sql })
  },
}

/** Operations with an optional app filter that their samples leave out. */
const FILTERED_BY_APP = new Set(["list_alerts"])

/** Returns the input of an operation's sample, with this app in place of the sample's. */
function inputOf(id: string, app: string): Input {
  const text = fixtures.get(`${id}.json`) as string
  const input = JSON.parse(text.replaceAll(SAMPLE_APP, app)).input
  return FILTERED_BY_APP.has(id) ? { ...input, appId: app } : input
}
