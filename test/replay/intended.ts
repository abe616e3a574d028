import type { Difference } from "./compare.ts"

/** Either the expected value itself, or a test of the value. */
type Expected = string | number | boolean | null | RegExp | ((value: unknown) => boolean)

/** An intended difference from the old build. README.md shows how to add one. */
export interface Intended {
  /** Short and unique, such as "head-is-405". */
  id: string
  /** One sentence with the new behaviour and its reason. */
  why: string
  /** The issue and finding that require it, such as "38, contract 12". */
  issue: string
  /** Conditions. All must match. */
  where: {
    surface?: Difference["surface"]
    /** An operation id, several, or a pattern. Omit to match all operations. */
    operation?: string | readonly string[] | RegExp
    /** A text must equal the whole path, as the report prints it. */
    path?: string | RegExp
    state?: string | RegExp
    old?: Expected
    new?: Expected
    call?: RegExp
  }
}

/** Lists with an intended change of order: their items are compared by the field that names them, in any order. */
export const REORDERED: readonly { operations: readonly string[]; list: string; by: string; why: string }[] = [
  {
    operations: ["hive_get_keyword_gap", "/v1/hive/gap"],
    list: "keywords",
    by: "term",
    why: "Keywords are ordered on one popularity scale (38, point 5).",
  },
]

const FEED = ["list_alerts", "/v1/alerts", "alerts", "after the writes"]
const CREDIT_TOTALS = new RegExp(
  [
    String.raw`^header x-credits-(?:used|remaining)$|credits\.(?:used|remaining|cost)$|keys\[\]\.used$|`,
    String.raw`usedToday$|quotas\[\]\.used$|packs\.apiCredits$|packCredits$`,
  ].join(""),
  "",
)
/** Operations whose answer is one list of rows and was JSON in the old build, whatever the caller preferred. */
const TABLES = [
  "get_keyword_competition",
  "get_rival_ad_networks",
  "get_storefront_audit",
  "get_timeline",
  "hive_find_apps",
  "hive_get_chart",
  "hive_get_keyword_gap",
  "hive_get_landscape",
  "hive_get_publisher",
  "hive_get_similar_apps",
  "hive_list_new_apps",
  "hive_list_reviews",
  "hive_research_keyword",
  "hive_resolve_app",
  "hive_spy_app",
  "list_ads_commands",
  "list_ads_keywords",
  "list_ads_search_terms",
  "list_alerts",
  "list_apps",
  "list_campaigns",
  "list_rivals",
]
const ESTIMATES = ["hive_estimate_app", "hive_find_apps", "hive_get_chart"]

export const INTENDED: readonly Intended[] = [
  {
    id: "allow-without-head",
    why: "Allow no longer lists HEAD.",
    issue: "38, contract F1",
    where: { surface: "rest", path: "header allow", old: /HEAD/ },
  },
  {
    id: "totals",
    why: "An estimate that exists earlier, and a call that was refused before, are charged.",
    issue: "38, contract F5 and figures F1",
    where: { path: CREDIT_TOTALS },
  },
  {
    id: "absent-body-is-empty",
    why: "An absent body is {}.",
    issue: "38, contract F5",
    where: { operation: ["validate_listing", "hive_measure_keyword"], path: "status", new: "200" },
  },
  {
    id: "alerts-can-be-withdrawn",
    why: "An alert has withdrawnAt.",
    issue: "38, figures-2 A1",
    where: { operation: [...FEED, "/v1/openapi.json"], path: /withdrawnAt/ },
  },
  {
    id: "feed-has-pages",
    why: "The feed has filters and a cursor.",
    issue: "38, figures-2 A5",
    where: { operation: FEED, path: /nextCursor$|^status$|^error$/ },
  },
  {
    id: "reviews-have-pages",
    why: "The list of reviews has filters, an order and a cursor, which were refused as unknown before.",
    issue: "44, point 3",
    where: {
      operation: ["list_reviews", "/v1/apps/{appId}/reviews"],
      path: /^status$|^error$/,
      old: /invalid_arguments/,
    },
  },
  {
    id: "import-order-keeps-alerts",
    why: "The same import in another order makes the same alerts, so other ids.",
    issue: "38, figures-2 A1",
    where: { surface: "import", operation: "/v1/alerts" },
  },
  {
    id: "estimates-after-import",
    why: "Estimates are made when an import ends, so they exist earlier.",
    issue: "38, figures F1",
    where: { operation: ESTIMATES, path: /^status$|^error$|noEstimate$|\.total$|apps\[\]/ },
  },
  {
    id: "denied-themes",
    why: "Reviews that deny a topic are a theme of their own, by rules of version 4.",
    issue: "38, figures F11",
    where: {
      operation: ["summarize_reviews", "/v1/openapi.json"],
      path: /themes\[\]|denied|written\.version$|without$|^status$|^error$/,
    },
  },
  {
    id: "bundles",
    why: "App bundles of the account are listed beside the app's figures.",
    issue: "38, consoles C",
    where: { operation: ["get_revenue", "/v1/openapi.json"], path: /bundles|ProductSales/ },
  },
  {
    id: "family-shared",
    why: "Family members' messages are counted apart.",
    issue: "38, consoles B2",
    where: { operation: ["get_pricing", "/v1/openapi.json"], path: /familyShared/ },
  },
  {
    id: "account-troubles",
    why: "An account lists the questions that fail.",
    issue: "37, consoles B7",
    where: { operation: "account list", path: /troubles/ },
  },
  {
    id: "connector-shape",
    why: "search and fetch return one text item, and search takes query.",
    issue: "38, use 11",
    where: { operation: ["search", "fetch"], surface: "tool", path: /content\[\] length$|^error$|problems/ },
  },
  {
    id: "tool-schemas",
    why: "Tools list the feed's filters, and query of search.",
    issue: "38, figures-2 A5 and use 11",
    where: { operation: "tools/list", path: /inputSchema/ },
  },
  {
    id: "causes-and-cures",
    why: "A refusal names the cause and the cure; an unknown app is answered with the apps that the key may see.",
    issue: "38, use 13",
    where: { path: /(?:^body|\.text|\.body)\.detail$/, old: undefined },
  },
  {
    id: "fields-keep-the-name",
    why: "The field that names a row stays whatever `fields` leaves out.",
    issue: "38, security A11",
    where: { call: /[?&]fields=/, path: /\[\]\.\w+$/, old: undefined },
  },
  {
    id: "apps-left-out-of-a-total",
    why: "The portfolio names the apps whose revenue is in no total.",
    issue: "38, figures-2 A4",
    where: { operation: "get_portfolio_overview", path: /subscriptionRevenueWithout$/ },
  },
  {
    id: "sales-by-store",
    why: "Portfolio and today list what each connected store console reported of the day.",
    issue: "45, point 1",
    where: { operation: ["get_portfolio_overview", "get_today"], path: /\.sales$/, old: undefined },
  },
  {
    id: "sales-can-be-named",
    why: "`fields` of the portfolio takes sales, which was refused as unknown before.",
    issue: "45, point 1",
    where: { operation: "get_portfolio_overview", path: /^status$/, old: /invalid_arguments/ },
  },
  {
    id: "store-parameter",
    why: "Revenue, funnel and change impact take a platform, which was refused as unknown before.",
    issue: "45, point 1",
    where: {
      operation: ["get_revenue", "get_funnel", "get_change_impact"],
      path: /^status$|^error$/,
      old: /invalid_arguments/,
    },
  },
  {
    id: "stated-limits",
    why: "Texts longer than the document allows are refused.",
    issue: "38, contract F4 and F7",
    where: {
      operation: ["draft_review_reply", "hive_resolve_app"],
      new: /^(?:200|400) (?:invalid_arguments|bad_query)$/,
    },
  },
  {
    id: "size-of-answers",
    why: "An answer with longer totals may pass the size from which it is compressed.",
    issue: "38, figures F1",
    where: { surface: "tool", path: /^header (?:content-encoding|vary)$/ },
  },
  {
    id: "tables-vary",
    why: "An answer that is one list of rows varies by accept.",
    issue: "38, contract F9",
    where: { path: "header vary", new: /^accept(?:, accept-encoding)?$/ },
  },
  {
    id: "imported-look-ups-are-pages",
    why: "An imported look-up counts as a reading of the app's page, as a live one does.",
    issue: "38, figures-2 A3",
    where: {
      surface: "import",
      operation: /^\/v1\/apps\/\{appId\}\/(?:page|timeline|featuring|weekly-plan)$/,
      path: /(?:measured|measuredAt|unchangedSince|source|version|firstReadAt|pageReadAt)$/,
    },
  },
  {
    id: "tables",
    why: "An answer that is one list of rows is sent as CSV or JSON Lines where accept prefers it.",
    issue: "38, contract F9",
    where: {
      surface: "rest",
      operation: TABLES,
      path: /^(?:body(?:\..+)?|header content-(?:type|encoding))$/,
      state: /^(?:text\/csv|application\/(?:jsonl|x-ndjson))$/,
    },
  },
  {
    id: "demo-is-a-publisher",
    why: "Market reads count the demo's keywords, as they count those of any other publisher.",
    issue: "39, house H",
    where: {
      operation: ["hive_spy_app", "hive_get_keyword_gap", "hive_research_keyword"],
      path: /\bsearched$/,
    },
  },
  {
    id: "keys-of-people",
    why: "A key may belong to a person.",
    issue: "42",
    where: { surface: "command", operation: "key list", path: /\.person$/ },
  },
  {
    id: "program-version",
    why: "The server of tools reports the program's version; the document keeps the specification's.",
    issue: "41, point 2",
    where: { surface: "tool", operation: "initialize", path: /serverInfo\.version$/ },
  },
  {
    id: "document",
    why: "The OpenAPI document describes the changes above and has examples of parameters.",
    issue: "38, contract F8",
    where: { operation: ["/v1/openapi.json", "/v1/openapi.yaml"], surface: "document" },
  },
]

export function isIntended({ where }: Intended, difference: Difference): boolean {
  const { operation } = where
  const operations = typeof operation === "string" ? [operation] : operation
  if (
    operations instanceof RegExp
      ? !operations.test(difference.operation)
      : operations?.includes(difference.operation) === false
  )
    return false
  if (where.surface !== undefined && where.surface !== difference.surface) return false
  if (where.call !== undefined && !where.call.test(difference.call)) return false
  return (["path", "state", "old", "new"] as const).every((name) => {
    const expected: Expected | undefined = where[name]
    return !(name in where) || isExpected(expected, difference[name])
  })
}

function isExpected(expected: Expected | undefined, value: unknown): boolean {
  if (expected instanceof RegExp)
    return expected.test(typeof value === "string" ? value : (JSON.stringify(value) ?? ""))
  return typeof expected === "function" ? expected(value) : expected === value
}
