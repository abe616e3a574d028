import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")

/**
 * Which rooms write a table and which others read it in statements of their own; a view is only read. What the database
 * does by triggers and functions is not seen here. Whoever wants a table of another room calls that room's reads: an entry
 * may get shorter, and longer only where a read of its own is worth what it costs to know the columns twice.
 */
const TABLES: Record<string, { writes: string; reads: string }> = {
  account_app: { writes: "accounts", reads: "" },
  account_right: { writes: "accounts", reads: "" },
  account_task: { writes: "accounts", reads: "" },
  connected_account: { writes: "accounts", reads: "observations" },
  account_offer: { writes: "accounts", reads: "" },
  account_product: { writes: "accounts", reads: "" },
  ads_campaign: { writes: "", reads: "accounts" },
  ads_campaign_row: { writes: "observations", reads: "" },
  ads_change_fact: { writes: "", reads: "accounts" },
  ads_change_fact_row: { writes: "observations", reads: "" },
  ads_day_fact: { writes: "", reads: "accounts" },
  ads_day_fact_row: { writes: "observations", reads: "" },
  ads_report: { writes: "observations", reads: "accounts retention" },
  ads_term_fact: { writes: "", reads: "accounts" },
  ads_term_fact_row: { writes: "observations", reads: "" },
  ads_term_popularity: { writes: "", reads: "accounts" },
  ads_term_popularity_row: { writes: "observations", reads: "" },
  ads_thing: { writes: "", reads: "accounts" },
  ads_thing_row: { writes: "observations", reads: "" },
  analytics_day: { writes: "observations", reads: "accounts" },
  analytics_instance: { writes: "accounts", reads: "" },
  funnel_fact: { writes: "", reads: "accounts" },
  funnel_fact_row: { writes: "observations", reads: "" },
  offer_redemption_fact: { writes: "", reads: "accounts" },
  offer_redemption_fact_row: { writes: "observations", reads: "" },
  price_day: { writes: "observations", reads: "accounts" },
  price_period: { writes: "observations", reads: "accounts" },
  billing_event: { writes: "observations", reads: "accounts" },
  billing_metric_day: { writes: "observations", reads: "accounts" },
  refresh_token: { writes: "oauth", reads: "" },
  figure_due: { writes: "observations", reads: "" },
  fact_set: { writes: "observations", reads: "" },
  report_piece: { writes: "observations", reads: "accounts" },
  report_set: { writes: "observations", reads: "" },
  report_day: { writes: "observations", reads: "accounts" },
  sales_fact: { writes: "", reads: "accounts" },
  sales_fact_row: { writes: "observations", reads: "" },
  subscription_event_fact: { writes: "", reads: "accounts" },
  subscription_event_fact_row: { writes: "observations", reads: "" },
  subscription_stock_fact: { writes: "", reads: "accounts" },
  subscription_stock_fact_row: { writes: "observations", reads: "" },
  access_token: { writes: "oauth", reads: "access" },
  account: { writes: "access", reads: "commands" },
  ai_check: { writes: "visibility", reads: "" },
  ai_check_turn: { writes: "visibility", reads: "" },
  alert: { writes: "actions alerts", reads: "delivery" },
  alert_rule: { writes: "actions", reads: "alerts delivery" },
  alert_to_deliver: { writes: "alerts delivery", reads: "" },
  allowance_unit: { writes: "access", reads: "" },
  allowance_used: { writes: "access", reads: "" },
  answered_country: { writes: "measuring", reads: "" },
  api_key: { writes: "access", reads: "actions oauth sign-in" },
  approval: { writes: "actions", reads: "" },
  app_ads: { writes: "observations", reads: "history" },
  app_estimate: { writes: "market", reads: "history observations operations" },
  app_first_seen: { writes: "observations", reads: "history" },
  app_rival: { writes: "alerts", reads: "history measuring observations operations" },
  app_storefront: { writes: "observations", reads: "actions history market measuring operations" },
  app_text: { writes: "observations", reads: "history" },
  assistant_answer: { writes: "observations", reads: "alerts history visibility" },
  assistant_turn: { writes: "visibility", reads: "" },
  attempt: { writes: "observations", reads: "history measuring replay" },
  audit: { writes: "actions", reads: "" },
  channel: { writes: "delivery", reads: "actions alerts metrics" },
  chart: { writes: "observations", reads: "alerts history market operations" },
  chart_first_seen: { writes: "observations", reads: "history" },
  chart_now: { writes: "observations", reads: "history market operations" },
  chart_place: { writes: "observations", reads: "history market operations" },
  chart_results: { writes: "observations", reads: "alerts history operations" },
  confirm_token: { writes: "actions", reads: "" },
  delivery: { writes: "alerts delivery", reads: "metrics" },
  developer_shelf: { writes: "observations", reads: "history" },
  estimate_grade: { writes: "market", reads: "history" },
  estimate_month: { writes: "market observations", reads: "history" },
  estimate_due: { writes: "market observations operations", reads: "" },
  due: { writes: "measuring", reads: "audits delivery history leases metrics" },
  export: { writes: "links", reads: "" },
  export_part: { writes: "links", reads: "retention" },
  genre: { writes: "observations", reads: "alerts operations" },
  followed_chart: { writes: "", reads: "" },
  hint_answer: { writes: "observations", reads: "history measuring" },
  imported_days: { writes: "alerts", reads: "" },
  instance: { writes: "process", reads: "" },
  instance_alert: { writes: "accounts measuring writing", reads: "metrics" },
  job: { writes: "commands leases", reads: "accounts metrics operations retention" },
  job_step: { writes: "leases", reads: "operations" },
  key_month: { writes: "access", reads: "" },
  keyword_now: { writes: "observations", reads: "history visibility" },
  keyword_metric: { writes: "observations", reads: "history" },
  ledger: { writes: "access retention", reads: "access" },
  ledger_month: { writes: "retention", reads: "" },
  list: { writes: "observations", reads: "alerts history links measuring operations tracking visibility" },
  list_now: { writes: "observations", reads: "history" },
  list_month: { writes: "observations", reads: "history" },
  listing_change: { writes: "observations", reads: "history" },
  listing_content: { writes: "observations", reads: "audits history" },
  listing_item: { writes: "observations", reads: "history" },
  listing_run: { writes: "observations", reads: "audits history measuring operations" },
  listing_translation: { writes: "operations", reads: "" },
  listing_version: { writes: "observations", reads: "history" },
  live_share: { writes: "measuring", reads: "" },
  market_fact: { writes: "observations", reads: "history market" },
  market_app: { writes: "observations", reads: "operations" },
  market_storefront: { writes: "tracking", reads: "history" },
  market_subject: { writes: "", reads: "" },
  measured_app: { writes: "", reads: "alerts audits market measuring" },
  name_search: { writes: "observations", reads: "history" },
  oauth_client: { writes: "oauth", reads: "" },
  oauth_code: { writes: "oauth", reads: "" },
  oauth_grant: { writes: "oauth", reads: "" },
  operator_action: { writes: "access", reads: "" },
  owner_passphrase: { writes: "sign-in", reads: "" },
  owner_session: { writes: "sign-in", reads: "" },
  pace: { writes: "measuring", reads: "audits commands history" },
  plan_task: { writes: "operations", reads: "history" },
  rank_month: { writes: "observations", reads: "history" },
  rating_count: { writes: "observations", reads: "audits history measuring operations" },
  rating_day: { writes: "", reads: "history observations" },
  rating_quarter: { writes: "observations", reads: "history" },
  reader: { writes: "measuring", reads: "history metrics" },
  review: { writes: "observations", reads: "alerts history" },
  review_day: { writes: "observations", reads: "history" },
  review_feed: { writes: "observations", reads: "history" },
  review_read: { writes: "observations", reads: "alerts history" },
  review_version: { writes: "observations", reads: "history links" },
  schema_migration: { writes: "database", reads: "" },
  search_results: { writes: "observations", reads: "alerts history operations" },
  secret_try: { writes: "access", reads: "" },
  share_link: { writes: "links", reads: "" },
  sign_in_code: { writes: "sign-in", reads: "" },
  source_hour: { writes: "measuring", reads: "metrics" },
  source_state: { writes: "measuring", reads: "metrics" },
  store_app: {
    writes: "observations",
    reads: "accounts actions alerts audits commands history links market measuring operations tracking",
  },
  store_app_name: { writes: "observations", reads: "actions history tracking" },
  storefront_audit: { writes: "audits", reads: "" },
  tool_question: { writes: "actions", reads: "" },
  tracked_app: {
    writes: "access actions tracking",
    reads: "accounts alerts commands delivery history links measuring observations operations process",
  },
  tracked_subject: { writes: "", reads: "measuring" },
  tracked_term: {
    writes: "tracking",
    reads: "actions alerts history links measuring observations operations process visibility",
  },
  workspace: {
    writes: "access",
    reads: "accounts actions alerts commands delivery links measuring oauth process retention sign-in tracking",
  },
  writer_day: { writes: "writing", reads: "metrics" },
  writer_text: { writes: "writing", reads: "" },
}

const schema = readFileSync(join(root, "test/snapshots/schema.sql"), "utf8")
const names = [...schema.matchAll(/^create (?:table|view) (\w+)/gm)].map(([, name]) => name as string)
const STATEMENT = /\b(insert into|merge into|update|delete from|truncate|from|join|using)\s+(?:only\s+)?([a-z_]+)\b/g
const READS = ["from", "join", "using"]

/** The rooms whose statements name each table. */
const uses = new Map<string, Record<"writes" | "reads", Set<string>>>(
  names.map((name) => [name, { writes: new Set(), reads: new Set() }]),
)
for (const file of readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })) {
  if (!file.endsWith(".ts")) continue
  const [room] = file.split("/") as [string]
  for (const [, verb, table] of readFileSync(join(root, "src", file), "utf8").matchAll(STATEMENT))
    uses.get(table as string)?.[READS.includes(verb as string) ? "reads" : "writes"].add(room)
}

test("every table and view has its rooms", () => {
  expect(Object.keys(TABLES).toSorted()).toEqual(names.toSorted())
})

test("a table is written by its own rooms alone, and read by those that are named", () => {
  const wrong = names.flatMap((name) => {
    const { writes = "", reads = "" } = TABLES[name] ?? {}
    const [writers, readers] = [writes.split(" "), reads.split(" ").filter(Boolean)]
    const used = uses.get(name)!
    return [
      ...[...used.writes].filter((room) => !writers.includes(room)).map((room) => `${room} writes ${name}`),
      ...[...used.reads]
        .filter((room) => !writers.includes(room) && !readers.includes(room))
        .map((room) => `${room} reads ${name}`),
      ...readers.filter((room) => !used.reads.has(room)).map((room) => `${room} no longer reads ${name}`),
    ]
  })
  expect(wrong).toEqual([])
})
