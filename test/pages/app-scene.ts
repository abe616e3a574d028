export { ownerBrowser as ownerOf } from "../access/oauth/scene.ts"

const SHARED_PAGES = ["", "/add", "/alerts", "/changes", "/search?q=photo"]
export const SAMPLE_PAGES = [...SHARED_PAGES, "/usage", "/sources"]
/** Pages of any owner. Those that depend on ports of a running process have tests of their own. */
export const OWN_PAGES = [...SHARED_PAGES, "/settings", "/settings/keys", "/settings/sharing", "/settings/usage"]
export const APP_TABS = [
  "",
  "/page",
  "/readings",
  "/reports",
  "/reviews",
  "/charts",
  "/rivals",
  "/plan",
  "/revenue",
  "/ads",
  "/assistants",
  "/edit",
  "/rival?rival=9990000102",
  "/summary",
  "/draft",
  "/ideas",
  "/localize",
  "/shots",
  "/reply?review=9990000731",
]

/** Returns every page of an app, including that of a keyword. */
export function appPages(base: string, appId: string, term: string): string[] {
  const app = `${base}/apps/${encodeURIComponent(appId)}`
  const asked = new URLSearchParams({ term, terms: term })
  return [...APP_TABS.map((tab) => `${app}${tab}`), `${app}/ranks?${asked}`, `${app}/evidence?${asked}`]
}
