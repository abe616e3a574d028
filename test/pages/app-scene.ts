export { ownerBrowser as ownerOf } from "../access/oauth/scene.ts"

/** The pages of the market, with what the sample has. */
export const MARKET_PAGES = [
  "/market",
  "/market/charts",
  "/market/new",
  "/market/find?rankMax=5",
  "/market/keyword?term=journal",
  "/market/rank?term=journal&app=9990000101",
  "/market/compare?apps=9990000101+9990000102",
  "/market/categories",
  "/market/app?id=9990000102",
  "/market/publisher?id=9990009001",
  "/market/search?q=garden",
]
const SHARED_PAGES = ["", "/add", "/alerts", "/changes", "/search?q=photo", ...MARKET_PAGES]
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
  "/visibility",
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
