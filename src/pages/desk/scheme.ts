import type { Scheme } from "../../ui/app/desk.ts"

const COOKIE = "appmeter-scheme"
const YEAR_SECONDS = 31_536_000

/** Returns the colours that the person chose in this browser. Null follows the system. */
export function schemeOf({ headers }: Request): Scheme | null {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim())
  return (["light", "dark"] as const).find((scheme) => pairs.includes(`${COOKIE}=${scheme}`)) ?? null
}

/** Returns the cookie that keeps the choice. Any other text follows the system again. */
export function schemeCookie(scheme: string | null): string {
  const isChoice = scheme === "light" || scheme === "dark"
  return `${COOKIE}=${isChoice ? scheme : ""}; Path=/app; SameSite=Lax; Max-Age=${isChoice ? YEAR_SECONDS : 0}`
}
