import type { OperationId } from "../../answers.ts"
import type { PageContext } from "./context.ts"

interface Entry {
  name: string
  /** Relative to the base of all pages, or to the page of an app. */
  path: string
  /** The entry is shown if one of these operations exists. */
  asks: readonly OperationId[]
  /**
   * Limits the entry to the pages of a workspace or to the sample. The sample has no settings, where an owner finds
   * usage and sources.
   */
  only?: "own" | "sample"
}

const TOPS: readonly Entry[] = [
  { name: "Overview", path: "", asks: ["get_overview"] },
  { name: "Market", path: "/market", asks: ["get_market"] },
  { name: "Alerts", path: "/alerts", asks: ["list_alerts"] },
]

/** Pages about the workspace, in its menu. */
const WORKSPACE: readonly Entry[] = [
  { name: "Changes", path: "/changes", asks: ["list_writes"] },
  { name: "Settings", path: "/settings", asks: ["get_usage"], only: "own" },
  { name: "Usage", path: "/usage", asks: ["get_usage"], only: "sample" },
  { name: "Sources", path: "/sources", asks: ["list_sources"], only: "sample" },
]

const TABS: readonly Entry[] = [
  { name: "Keywords", path: "", asks: ["list_keyword_ranks"] },
  { name: "Listing", path: "page", asks: ["get_store_page"] },
  { name: "Reviews", path: "reviews", asks: ["list_reviews"] },
  { name: "Charts", path: "charts", asks: ["get_chart_positions"] },
  { name: "Rivals", path: "rivals", asks: ["list_rivals"] },
  { name: "Revenue", path: "revenue", asks: ["get_revenue"] },
  { name: "Ads", path: "ads", asks: ["list_campaigns", "list_ads_keywords", "list_ads_search_terms"] },
  { name: "Assistants", path: "assistants", asks: ["get_ai_visibility"] },
  { name: "Plan", path: "plan", asks: ["get_weekly_plan"] },
  { name: "App settings", path: "edit", asks: ["preview_action"] },
]

export const shownTops = (context: PageContext) => TOPS.filter(({ asks }) => asks.some(context.has))
export const shownWorkspacePages = (context: PageContext) =>
  WORKSPACE.filter(({ asks, only }) => {
    return asks.some(context.has) && (only === undefined || (only === "sample") === context.isSample)
  })
export const shownTabs = (context: PageContext) => TABS.filter(({ asks }) => asks.some(context.has))
