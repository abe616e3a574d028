export const SCOPES = [
  "apps:read",
  "reviews:read",
  "ai:read",
  "revenue:read",
  "hive:read",
  "hive:spy",
  "hive:estimate",
  "ads:read",
  "track:write",
  "reports:write",
  "reviews:write",
  "listing:write",
  "ads:write",
  "hive:measure",
] as const

export type Scope = (typeof SCOPES)[number]

/**
 * Rights that only a person can have, and only on pages: to manage people, keys, channels and connected accounts, and
 * to see the state of the server. No key and no assistant can be given these rights.
 */
const PERSON_SCOPES = ["workspace:manage", "server:operate"] as const

/** A right that a caller may have. */
export type Right = Scope | (typeof PERSON_SCOPES)[number]

/** The scopes that allow reading money: proceeds of sales, and spend on ads. */
export const MONEY_SCOPES: readonly Right[] = ["revenue:read", "ads:read"]

/** The scopes of a new key by default: all but hive:measure, which starts paid work and is opt-in. */
export const DEFAULT_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== "hive:measure")

/** For each write scope, the scope that shows what its writes change. */
const READ_SCOPES: Partial<Record<Scope, Scope>> = {
  "track:write": "apps:read",
  "reports:write": "apps:read",
  "reviews:write": "reviews:read",
  "listing:write": "apps:read",
  "ads:write": "ads:read",
}

/**
 * Returns the scopes whose writes a caller may see in lists. A caller may see a write if they may make such a write, or
 * may read what it changes, because its summary contains figures such as a bid.
 */
export function visibleWriteScopes(scopes: readonly Right[]): Scope[] {
  return SCOPES.filter((scope) => {
    const readScope = READ_SCOPES[scope]
    return scopes.includes(scope) || (readScope !== undefined && scopes.includes(readScope))
  })
}

/** Explains each right to the person who grants it. */
export const SCOPE_MEANINGS: Record<Right, string> = {
  "apps:read": "See the apps, their keywords, ranks, rivals and listings.",
  "reviews:read": "Read the stored reviews.",
  "ai:read": "Read what AI assistants say about the apps, and get suggestions for texts.",
  "revenue:read": "See sales, subscriptions and money of connected accounts.",
  "hive:read": "Ask about the whole market: keywords, charts and apps.",
  "hive:spy": "Look into another app's keywords, which uses up the monthly allowance.",
  "hive:estimate": "See estimates of downloads and revenue.",
  "ads:read": "See campaigns and keywords of connected ad accounts.",
  "track:write": "Change what is tracked: apps, keywords, storefronts, alert rules.",
  "reports:write": "Create public links and exports.",
  "reviews:write": "Reply to reviews.",
  "listing:write": "Change the listing in the store's console.",
  "ads:write": "Change campaigns, bids and keywords of ads.",
  "hive:measure": "Start measurements, each of which costs credits.",
  "workspace:manage": "Manage people, keys, channels and connected accounts.",
  "server:operate": "See the machine's health, data folder and backups.",
}
