const COOKIE = "appmeter-scheme"
const YEAR_SECONDS = 31_536_000

export type Scheme = "light" | "dark"

/** Returns the colours that the person chose in this browser. Null follows the system. */
export function schemeOf({ headers }: Request): Scheme | null {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim())
  return (["light", "dark"] as const).find((scheme) => pairs.includes(`${COOKIE}=${scheme}`)) ?? null
}

/** Returns the cookie that stores the choice. Any other text removes it, so that the system decides again. */
export function schemeCookie(scheme: string | null): string {
  const isChoice = scheme === "light" || scheme === "dark"
  return `${COOKIE}=${isChoice ? scheme : ""}; ${attributes(isChoice ? YEAR_SECONDS : 0)}`
}

const attributes = (seconds: number) => `Path=/; SameSite=Lax; Max-Age=${seconds}`

/**
 * Applies the chosen colours before the page is drawn, and makes the header's button switch them. A script does this,
 * because documents are the same bytes for everybody. Without script the pages follow the system.
 */
export const SCHEME_SCRIPT = `(() => {
  const root = document.documentElement
  const system = matchMedia("(prefers-color-scheme: dark)")
  const [, chosen] = /(?:^|; )${COOKIE}=(light|dark)(?:;|$)/.exec(document.cookie) ?? []
  if (chosen) root.dataset.scheme = chosen
  const isDark = () => (root.dataset.scheme ?? (system.matches ? "dark" : "light")) === "dark"
  addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("header > .scheme")
    const show = () => { button.textContent = isDark() ? "Light colours" : "Dark colours" }
    button.addEventListener("click", () => {
      root.dataset.scheme = isDark() ? "light" : "dark"
      document.cookie = "${COOKIE}=" + root.dataset.scheme + "; ${attributes(YEAR_SECONDS)}"
      show()
    })
    system.addEventListener("change", show)
    show()
    button.hidden = false
  })
})()`
