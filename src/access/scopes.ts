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

/** What a new key gets: everything but hive:measure, which starts paid work and is opt-in. */
export const DEFAULT_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== "hive:measure")
