import { ownValue } from "../../src/lib/objects.ts"
import { APP_PAGES, WORKSPACE_PAGES } from "../../src/pages/pages.ts"
import type { Browser } from "../access/sign-in/browser.ts"

export { ownerBrowser as ownerOf } from "../access/oauth/scene.ts"

/** Parameters with which a page shows data of the sample. */
const QUERIES: Readonly<Record<string, string>> = {
  "/search": "?q=photo",
  "/market/find": "?rankMax=5",
  "/market/keyword": "?term=journal",
  "/market/rank": "?term=journal&app=9990000101",
  "/market/compare": "?apps=9990000101+9990000102",
  "/market/app": "?id=9990000102",
  "/market/publisher": "?id=9990009001",
  "/market/search": "?q=garden",
  rival: "?rival=9990000102",
  reply: "?review=9990000731",
}
/** Earlier addresses of settings. Only the sample still has them. */
const MOVED = ["/usage", "/sources"]

const withQuery = (path: string) => `${path}${ownValue(QUERIES, path) ?? ""}`

/** Every page of a workspace, from the list of routes. */
export const SAMPLE_PAGES = Object.keys(WORKSPACE_PAGES).map(withQuery)
/** Pages of any owner. Settings that depend on ports of a running process have tests of their own. */
export const OWN_PAGES = [
  ...SAMPLE_PAGES.filter((path) => !MOVED.includes(path)),
  ...["/settings", "/settings/profile", "/settings/people", "/settings/keys", "/settings/sharing", "/settings/usage"],
]
/** Pages of a keyword need its term. */
const OF_TERM = ["ranks", "evidence"]
export const APP_TABS = Object.keys(APP_PAGES)
  .filter((tab) => !OF_TERM.includes(tab))
  .map((tab) => (tab === "" ? "" : `/${withQuery(tab)}`))

/** Returns the address of every page of the settings that the person may open. */
export async function settingsPages(browser: Browser): Promise<string[]> {
  const { text } = await browser.open("/app/settings")
  return [...new Set([...text.matchAll(/href="(\/app\/settings[^"?]*)"/g)].map(([, address]) => address as string))]
}

/** Returns every page of an app, including that of a keyword. */
export function appPages(base: string, appId: string, term: string): string[] {
  const app = `${base}/apps/${encodeURIComponent(appId)}`
  const params = new URLSearchParams({ term, terms: term })
  return [...APP_TABS.map((tab) => `${app}${tab}`), ...OF_TERM.map((tab) => `${app}/${tab}?${params}`)]
}
