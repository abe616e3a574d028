import { alertsPage } from "../alerts/page/alerts.ts"
import { chartsPage } from "../charts/page/charts.ts"
import { adsPage } from "../consoles/page/connected.ts"
import { reportsPage } from "../consoles/page/reports.ts"
import { revenuePage } from "../consoles/page/revenue.ts"
import { evidencePage } from "../keywords/page/evidence.ts"
import { ideasPage } from "../keywords/page/ideas.ts"
import { keywordsPage } from "../keywords/page/page.ts"
import { ranksPage } from "../keywords/page/ranks.ts"
import { rivalPage } from "../keywords/page/rival.ts"
import { rivalsPage } from "../keywords/page/rivals.ts"
import { visibilityPage } from "../keywords/page/visibility.ts"
import { ownValue } from "../lib/objects.ts"
import { changesPage } from "../listings/page/changes.ts"
import { localisationPage } from "../listings/page/localisation.ts"
import { screenshotsPage } from "../listings/page/screenshots.ts"
import { storePagePage } from "../listings/page/store-page.ts"
import { marketAppPage } from "../market/page/app.ts"
import { marketCategoriesPage } from "../market/page/categories.ts"
import { marketChartsPage } from "../market/page/charts.ts"
import { marketComparePage } from "../market/page/compare.ts"
import { marketFindPage } from "../market/page/find.ts"
import { marketKeywordPage } from "../market/page/keyword.ts"
import { marketNewPage } from "../market/page/new-apps.ts"
import { marketPublisherPage } from "../market/page/publisher.ts"
import { marketRankPage } from "../market/page/rank.ts"
import { marketSearchPage } from "../market/page/search.ts"
import { marketStartPage } from "../market/page/start.ts"
import { planPage } from "../overview/page/plan.ts"
import { replyPage } from "../reviews/page/reply.ts"
import { reviewsPage } from "../reviews/page/reviews.ts"
import { summaryPage } from "../reviews/page/summary.ts"
import type { Page, PageContext } from "../ui/app/context.ts"
import { readingsPage } from "../ui/app/readings.ts"
import { draftPage } from "../ui/app/texts/drafts.ts"
import { editPage } from "../ui/app/write/edit.ts"
import { assistantsPage } from "../visibility/page/assistants.ts"
import { addAppPage } from "./add-app.ts"
import { overviewPage } from "./overview/page.ts"
import { searchPage } from "./search.ts"
import { sourcesPage } from "./settings/sources.ts"
import { usagePage } from "./settings/usage.ts"

/** Pages of the workspace by their path below the base. */
export const WORKSPACE_PAGES: Record<string, (context: PageContext) => Promise<Page>> = {
  "": overviewPage,
  "/add": addAppPage,
  "/search": searchPage,
  "/alerts": alertsPage,
  "/market": marketStartPage,
  "/market/charts": marketChartsPage,
  "/market/new": marketNewPage,
  "/market/search": marketSearchPage,
  "/market/find": marketFindPage,
  "/market/keyword": marketKeywordPage,
  "/market/rank": marketRankPage,
  "/market/compare": marketComparePage,
  "/market/app": marketAppPage,
  "/market/publisher": marketPublisherPage,
  "/market/categories": marketCategoriesPage,
  "/changes": changesPage,
  "/usage": usagePage,
  "/sources": sourcesPage,
}

/** Pages of an app by the last part of their path. */
export const APP_PAGES: Record<string, (context: PageContext, appId: string) => Promise<Page>> = {
  "": keywordsPage,
  ranks: ranksPage,
  visibility: visibilityPage,
  evidence: evidencePage,
  page: storePagePage,
  readings: readingsPage,
  reports: reportsPage,
  draft: draftPage,
  ideas: ideasPage,
  localize: localisationPage,
  shots: screenshotsPage,
  reviews: reviewsPage,
  summary: summaryPage,
  reply: replyPage,
  charts: chartsPage,
  rivals: rivalsPage,
  rival: rivalPage,
  plan: planPage,
  revenue: revenuePage,
  ads: adsPage,
  assistants: assistantsPage,
  edit: editPage,
}

/** Returns the page at a path below the context's base. Null if there is none. */
export function pageAt(path: string): ((context: PageContext) => Promise<Page>) | null {
  const workspacePage = ownValue(WORKSPACE_PAGES, path)
  if (workspacePage) return workspacePage
  const [, id, tab = ""] = /^\/apps\/([^/]+)(?:\/([a-z]+))?$/.exec(path) ?? []
  const appId = id === undefined ? null : decoded(id)
  const appPage = ownValue(APP_PAGES, tab)
  return appId === null || !appPage ? null : (context) => appPage(context, appId)
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
