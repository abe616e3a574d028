import type { Sql } from "../../src/database/types.ts"
import { idsIn, namesOf, ratingsOf } from "./hive-reads-rows.ts"
import { TODAY } from "./years-fill.ts"

/** The keys of the rows. They are looked up beforehand, outside the measurement. */
export interface Keys {
  sql: Sql
  workspace: number
  /** The tracked app of the call, and all apps of the workspace. */
  appId: string
  appIds: string[]
  /** Numbers in store_app: the numbers of the app, of its rival, and of the apps named in the answer. */
  appNumber: number
  rival: number
  named: number[]
  /** List ids of the app's keywords, and of all apps' keywords. */
  lists: number[]
  allLists: number[]
  /** List ids of the keywords in the answer, and the apps among the first ten results. */
  listIds: number[]
  first: number[]
  /** Apps in the results of any keyword. */
  resultApps: number[]
  appNumbers: number[]
  /** The connected accounts of the workspace, and the answer of the call. */
  accounts: string[]
  answer: Record<string, unknown>
}

type Statements = (keys: Keys) => PromiseLike<unknown>[]

export async function keysOf(
  sql: Sql,
  { workspace, appId, rivalId }: { workspace: number; appId: string; rivalId: string },
  answer: Record<string, unknown>,
): Promise<Keys> {
  const apps = await sql<{ id: string; appNumber: number }[]>`
    select id, ios_app as "appNumber" from tracked_app where workspace_id = ${workspace} order by created_at, id`
  const named = await sql<{ id: number }[]>`
    select id from store_app where platform = 'ios' and store_id = any(${[...idsIn(answer)]}::text[])`
  const lists = await sql<{ id: number; app: string }[]>`
    select l.id, t.app_id as app
    from tracked_term t
    join list l on (l.platform, l.storefront, l.term) = ('ios', 'us', t.term)`
  const [rival] = await sql<{ id: number }[]>`
    select id from store_app where platform = 'ios' and store_id = ${rivalId}`
  const readTerms = ((answer.keywords ?? []) as { term?: string }[]).flatMap(({ term }) => term ?? [])
  const readLists = await sql<{ id: number }[]>`
    select id from list where (platform, storefront) = ('ios', 'us') and term = any(${readTerms}::text[])`
  const first = await sql<{ id: number }[]>`
    select distinct unnest(app_ids[1:10]) as id
    from list_now
    where list_id = any(${readLists.map(({ id }) => id)}::int[])`
  const resultApps = await sql<{ id: number }[]>`
    select distinct unnest(app_ids) as id from list_now where list_id = any(${lists.map(({ id }) => id)}::int[])`
  const accounts = await sql<{ id: string }[]>`select id from connected_account where workspace_id = ${workspace}`
  return {
    sql,
    workspace,
    appId,
    answer,
    rival: rival!.id,
    appIds: apps.map(({ id }) => id),
    appNumbers: apps.map(({ appNumber }) => appNumber),
    appNumber: apps.find(({ id }) => id === appId)!.appNumber,
    named: named.map(({ id }) => id),
    lists: lists.filter(({ app }) => app === appId).map(({ id }) => id),
    allLists: [...new Set(lists.map(({ id }) => id))],
    listIds: readLists.map(({ id }) => id),
    first: first.map(({ id }) => id),
    resultApps: resultApps.map(({ id }) => id),
    accounts: accounts.map(({ id }) => id),
  }
}

const latest = ({ sql, lists }: Keys) => sql`select * from list_now where list_id = any(${lists}::int[])`
const figures = ({ sql, lists }: Keys) => sql`select * from keyword_now where list_id = any(${lists}::int[])`
const terms = ({ sql, appId }: Keys) => sql`select * from tracked_term where app_id = ${appId}`
const names = ({ sql, named }: Keys) => namesOf(sql, named)
const ratings = ({ sql }: Keys, apps: number[]) => ratingsOf(sql, apps)
const facts = ({ sql }: Keys, app: number) => sql`
  select * from app_storefront where (app_id, storefront, source) = (${app}, 'us', 'itunes-lookup')`
const page = ({ sql }: Keys, app: number) => sql`
  select c.section, c.content, r.seen_at
  from (values ('page'), ('similar')) s (shown)
  cross join lateral (
    select *
    from listing_run
    where (app_id, storefront, source, section) = (${app}, 'us', 'apple-app-page', s.shown)
    order by first_seen_at desc
    limit 1
  ) r
  join listing_content c using (app_id, storefront, source, section, digest)`
const changes = ({ sql }: Keys, app: number) => sql`
  select * from listing_change where app_id = ${app} and at > ${TODAY}::date - 90`
/** Fetches the ranks of the month, one byte a day. */
const months = ({ sql }: Keys, lists: number[], appNumbers: number[], from: string) => [
  sql`
    select *
    from rank_month
    where app_id = any(${appNumbers}::int[]) and list_id = any(${lists}::int[])
      and month >= date_trunc('month', ${from}::date)`,
  sql`
    select *
    from list_month
    where list_id = any(${lists}::int[]) and month >= date_trunc('month', ${from}::date)`,
]
const reviews = ({ sql, appNumber, answer }: Keys) => {
  const ids = ((answer.reviews ?? answer.list ?? []) as { id: string }[]).map(({ id }) => id)
  return sql`
    select * from review_version where (app_id, feed) = (${appNumber}, 'us') and review_id = any(${ids}::text[])`
}
const reviewFeed = ({ sql, appNumber }: Keys) =>
  sql`select * from review_feed where (app_id, feed) = (${appNumber}, 'us')`
const reviewDays = ({ sql }: Keys, appNumbers: number[], days: number) => sql`
  select *
  from review_day
  where app_id = any(${appNumbers}::int[]) and feed = 'us' and day > ${TODAY}::date - ${days}::int`
const charts = ({ sql }: Keys, days: number) => sql`
  select r.*
  from chart c
  join chart_results r on r.chart_id = c.id
  where (c.platform, c.storefront) = ('ios', 'us') and r.day > ${TODAY}::date - ${days}::int`
/** Fetches the reported days of an account. */
const reportedDays = ({ sql, accounts }: Keys, view: string, days: number) => sql`
  select *
  from ${sql(view)}
  where account_id = any(${accounts}::text[]) and day > ${TODAY}::date - ${days}::int`
const ofAccounts = ({ sql, accounts }: Keys, view: string) =>
  sql`select * from ${sql(view)} where account_id = any(${accounts}::text[])`
/** The names of apps are the names in the store. */
const workspaceRows = (keys: Keys) => [...appRows(keys), accountRow(keys)]
const accountRow = ({ sql, workspace }: Keys) => sql`select * from account where workspace_id = ${workspace}`
const appRows = ({ sql, workspace, appNumbers }: Keys) => [
  sql`select * from tracked_app where workspace_id = ${workspace}`,
  sql`select app_id, name, icon_url from store_app_name where app_id = any(${appNumbers}::int[]) and storefront = 'us'`,
  sql`select * from store_app where id = any(${appNumbers}::int[])`,
]

/** Fetches the rows behind the answer of each read of an app, all statements at once. */
export const ROWS: Record<string, Statements> = {
  list_alerts: (k) => {
    const ids = (k.answer.alerts as { id: number }[]).map(({ id }) => id)
    return [...appRows(k), k.sql`select * from alert where id = any(${ids}::int[])`]
  },
  get_portfolio_overview: (k) => [
    ...workspaceRows(k),
    // the counts cover the keywords tracked now
    k.sql`select * from tracked_term where app_id = any(${k.appIds}::text[])`,
    ...months(k, k.allLists, k.appNumbers, TODAY),
    reviewDays(k, k.appNumbers, 2),
    k.sql`select * from review_feed where app_id = any(${k.appNumbers}::int[]) and feed = 'us'`,
    ...["sales_fact", "ads_day_fact"].map((view) => reportedDays(k, view, 3)),
  ],
  whoami: workspaceRows,
  get_usage: (k) => [
    ...workspaceRows(k),
    k.sql`select app_id, count(*) from tracked_term where app_id = any(${k.appIds}::text[]) group by app_id`,
    k.sql`select * from allowance_used where workspace_id = ${k.workspace}`,
  ],
  search: (k) => [
    ...workspaceRows(k),
    k.sql`select * from tracked_term where app_id = any(${k.appIds}::text[])`,
    // rivals are the apps in the results of every keyword, and are found by name
    latest({ ...k, lists: k.allLists }),
    ...names({ ...k, named: k.resultApps }),
  ],
  fetch: (k) => [terms(k), ...months(k, k.lists, [k.appNumber], TODAY)],
  list_apps: (k) => [...appRows(k), k.sql`select * from tracked_term where app_id = any(${k.appIds}::text[])`],
  get_app: (k) => [terms(k), ...months(k, k.lists, [k.appNumber], TODAY)],
  list_keyword_ranks: (k) => [latest(k), figures(k)],
  list_rivals: (k) => [latest(k), ...names(k), ratings(k, k.named)],
  get_rank_history: (k) => months(k, k.lists, [k.appNumber], k.answer.from as string),
  get_store_page: (k) => [
    facts(k, k.appNumber),
    page(k, k.appNumber),
    changes(k, k.appNumber),
    ratings(k, [k.appNumber]),
    ...names(k),
  ],
  list_reviews: (k) => [reviewFeed(k), reviews(k)],
  get_chart_positions: (k) => [charts(k, 30)],
  search_reviews: (k) => [reviewFeed(k), reviews(k)],
  get_review_stats: (k) => [reviewFeed(k), reviewDays(k, [k.appNumber], 90)],
  summarize_reviews: (k) => [
    reviewFeed(k),
    k.sql`
      select * from review_version where (app_id, feed) = (${k.appNumber}, 'us') and at > ${TODAY}::date - 90`,
  ],
  get_timeline: (k) => [
    ...[changes(k, k.appNumber), page(k, k.appNumber), terms(k)],
    ...months(k, k.lists, [k.appNumber], k.answer.from as string),
  ],
  get_today: (k) => [
    ...[terms(k), ...months(k, k.lists, [k.appNumber], TODAY)],
    ...[reviewDays(k, [k.appNumber], 2), ratings(k, [k.appNumber]), changes(k, k.appNumber)],
    ...["sales_fact", "ads_day_fact"].map((view) => reportedDays(k, view, 3)),
  ],
  get_keyword_competition: (k) => [
    ...[latest({ ...k, lists: k.listIds }), figures({ ...k, lists: k.listIds })],
    ...names({ ...k, named: k.first }),
    ratings(k, k.named),
  ],
  get_rival: (k) => [
    ...[facts(k, k.rival), changes(k, k.rival), latest(k), figures(k)],
    k.sql`
      select * from rating_day where app_id = ${k.rival} and storefront = 'us' and day > ${TODAY}::date - 30`,
  ],
  get_rival_ad_networks: (k) => [
    ...names(k),
    k.sql`select * from app_ads where app_id = ${k.rival} order by day desc limit 1`,
  ],
  get_rival_market: (k) => [
    ...[...names(k), facts(k, k.rival), ratings(k, [k.rival])],
    k.sql`
      select * from market_fact where (app_id, storefront) = (${k.rival}, 'us') order by day desc limit 1`,
  ],
  get_storefront_audit: (k) => [
    k.sql`select * from storefront_audit where app_id = ${k.appNumber} order by started_at desc limit 1`,
  ],
  // all measurements of keywords with the app or a rival in the results, and the names of the apps in these results
  suggest_keywords: (k) => [
    terms(k),
    latest(k),
    figures(k),
    page(k, k.appNumber),
    ...names({ ...k, named: k.resultApps }),
  ],
  validate_listing: (k) => [latest(k), figures(k), facts(k, k.appNumber)],
  get_screenshot_text: (k) => [page(k, k.appNumber)],
  get_chart_movers: (k) => [charts(k, 2), ...names(k)],
  get_featuring: (k) => [
    page(k, k.appNumber),
    ...names(k),
    k.sql`select * from listing_item where (app_id, storefront, source) = (${k.appNumber}, 'us', 'apple-app-page')`,
  ],
  get_weekly_plan: (k) => [latest(k), figures(k), page(k, k.appNumber), ratings(k, k.named), ...names(k)],
  get_revenue: (k) => [reportedDays(k, "sales_fact", 30)],
  get_subscriptions: (k) =>
    ["subscription_event_fact", "subscription_stock_fact"].map((view) => reportedDays(k, view, 30)),
  get_funnel: (k) => [reportedDays(k, "funnel_fact", 30)],
  list_campaigns: (k) => [ofAccounts(k, "ads_campaign"), reportedDays(k, "ads_day_fact", 28)],
  list_ads_keywords: (k) => [ofAccounts(k, "ads_thing"), reportedDays(k, "ads_day_fact", 28)],
  // a row of a search term contains its campaign and its keyword
  list_ads_search_terms: (k) => ["ads_term_fact", "ads_campaign", "ads_thing"].map((view) => ofAccounts(k, view)),
  list_ads_commands: (k) => [reportedDays(k, "ads_change_fact", 28)],
  get_search_popularity: (k) => [ofAccounts(k, "ads_term_popularity"), terms(k)],
  get_pricing: (k) => [ofAccounts(k, "account_product"), ofAccounts(k, "billing_event")],
  get_country_prices: (k) => [
    ofAccounts(k, "account_product"),
    k.sql`
      select distinct on (account_id, app, product) * from price_day
      where account_id = any(${k.accounts}::text[])
      order by account_id, app, product, day desc`,
  ],
  // every compared day in every compared storefront, and the days with reports
  get_change_impact: (k) => [
    ...[changes(k, k.appNumber), terms(k), reportedDays(k, "analytics_day", 90)],
    k.sql`
      select *
      from report_day
      where account_id = any(${k.accounts}::text[]) and report = 'sales' and day > ${TODAY}::date - 90`,
    ...["sales_fact", "funnel_fact"].map(
      (view) => k.sql`
      select *
      from ${k.sql(view)}
      where account_id = any(${k.accounts}::text[]) and country = 'us' and day > ${TODAY}::date - 90`,
    ),
  ],
  get_job: (k) => [k.sql`select * from job where id = ${k.answer.jobId as string}`],
  get_ai_visibility: (k) => [
    terms(k),
    k.sql`
      select *
      from assistant_answer
      where storefront = 'us' and term in (select term from tracked_term where app_id = ${k.appId})`,
  ],
  hive_spy_app: (k) => [latest({ ...k, lists: k.listIds }), ...names(k)],
  hive_get_keyword_gap: (k) => [latest({ ...k, lists: k.listIds }), ...names(k)],
}
