import type { Operation, Toolset } from "../core/operation.ts"
import { TOOLSETS } from "../core/operation.ts"

/** A page of the reference: the operations of one toolset. */
export interface Group {
  toolset: Toolset
  title: string
  summary: string
  address: string
  operations: readonly Operation[]
}

const TEXTS: Record<Toolset, [title: string, summary: string]> = {
  account: ["Account and search", "The key, quotas, alerts, the portfolio, and search in the workspace."],
  apps: ["Apps", "The tracked apps and their day."],
  keywords: ["Keywords", "Ranks, history, competition and ideas for tracked keywords."],
  rivals: ["Rivals", "Apps that rank above yours, their pages, ad networks and market data."],
  reviews: ["Reviews", "Reviews, their statistics, themes and reply drafts."],
  page: ["Store pages and texts", "Store pages, their changes and checks, drafts and translations."],
  charts: ["Charts", "Positions on the top charts and what moved there."],
  revenue: ["Revenue and funnel", "Sales, subscriptions, prices, the funnel, and the impact of changes."],
  ads: ["Apple Ads", "Campaigns, keywords, search terms, changes and search popularity."],
  ai: ["AI visibility", "How AI assistants answer questions about an app's keywords."],
  hive: ["Market (Hive)", "Any app, chart, publisher or keyword of the market, tracked or not."],
  writes: ["Writes", "Changes behind preview and confirm, and their jobs."],
}

/** Returns the groups that have operations, in the order of the toolsets. */
export function groupsOf(catalog: readonly Operation[]): Group[] {
  const byToolset = Map.groupBy(catalog, ({ toolset }) => toolset)
  return TOOLSETS.flatMap((toolset) => {
    const operations = byToolset.get(toolset)
    if (!operations) return []
    const [title, summary] = TEXTS[toolset]
    return [{ toolset, title, summary, address: `/docs/${toolset}`, operations }]
  })
}

/** The anchor of a parameter, on the page that documents its operation or write. */
export function parameterAnchor(id: string, name: string): string {
  return `${id}.in.${name}`
}

/** The anchor of a field of an answer. The field's path is written as in "alerts[].id". */
export function fieldAnchor(id: string, path: string): string {
  return `${id}.out.${path.replaceAll("[]", "")}`
}
