import { ownValue } from "../../vocabulary/objects.ts"
import { alertsPage } from "./alerts.ts"
import { changesPage } from "./changes.ts"
import { chartsPage } from "./charts.ts"
import { adsPage, assistantsPage } from "./connected.ts"
import type { Desk, Page } from "./desk.ts"
import { evidencePage } from "./keywords/evidence.ts"
import { keywordsPage } from "./keywords/page.ts"
import { ranksPage } from "./keywords/ranks.ts"
import { planPage } from "./plan.ts"
import { portfolioPage } from "./portfolio.ts"
import { readingsPage } from "./readings.ts"
import { revenuePage } from "./revenue.ts"
import { reviewsPage } from "./reviews.ts"
import { rivalPage } from "./rival.ts"
import { rivalsPage } from "./rivals.ts"
import { reportsPage } from "./sections/reports.ts"
import { sourcesPage } from "./sources.ts"
import { storePagePage } from "./store-page.ts"
import { draftPage, replyPage } from "./texts/drafts.ts"
import { ideasPage } from "./texts/ideas.ts"
import { localisationPage } from "./texts/localisation.ts"
import { screenshotsPage } from "./texts/screenshots.ts"
import { summaryPage } from "./texts/summary.ts"
import { usagePage } from "./usage.ts"
import { addPage, editPage } from "./write/edit.ts"

const WORKSPACE_PAGES: Record<string, (desk: Desk) => Promise<Page>> = {
  "": portfolioPage,
  "/add": addPage,
  "/alerts": alertsPage,
  "/changes": changesPage,
  "/usage": usagePage,
  "/sources": sourcesPage,
}

const APP_PAGES: Record<string, (desk: Desk, appId: string) => Promise<Page>> = {
  "": keywordsPage,
  ranks: ranksPage,
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

/** The page at a path below the desk; null where there is none. */
export function pageAt(path: string): ((desk: Desk) => Promise<Page>) | null {
  const workspacePage = ownValue(WORKSPACE_PAGES, path)
  if (workspacePage) return workspacePage
  const [, id, tab = ""] = /^\/apps\/([^/]+)(?:\/([a-z]+))?$/.exec(path) ?? []
  const appId = id === undefined ? null : decoded(id)
  const appPage = ownValue(APP_PAGES, tab)
  return appId === null || !appPage ? null : (desk) => appPage(desk, appId)
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
