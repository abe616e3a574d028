import { MONEY_SCOPES, type Right, SCOPES } from "../scopes.ts"

/** Presets of rights. A person may also have any other set of rights, which has no name. */
export const ROLES = ["owner", "editor", "viewer", "viewer-without-money"] as const

export type Role = (typeof ROLES)[number]

const READS: readonly Right[] = [
  "apps:read",
  "reviews:read",
  "ai:read",
  "revenue:read",
  "hive:read",
  "hive:spy",
  "hive:estimate",
  "ads:read",
]

const SCOPES_OF: Record<Role, readonly Right[]> = {
  owner: [...SCOPES, "workspace:manage"],
  // Tracking, rules and texts, without anything that costs money elsewhere (ads, measurements).
  editor: [...READS, "track:write", "reports:write", "reviews:write", "listing:write"],
  viewer: READS,
  "viewer-without-money": READS.filter((scope) => !MONEY_SCOPES.includes(scope)),
}

export function scopesOf(role: Role): readonly Right[] {
  return SCOPES_OF[role]
}

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text)
}

/** Returns the role with exactly these scopes. Null if there is none. */
export function roleOf(scopes: readonly Right[]): Role | null {
  const isSame = (preset: readonly Right[]) =>
    preset.length === scopes.length && preset.every((scope) => scopes.includes(scope))
  return ROLES.find((role) => isSame(SCOPES_OF[role])) ?? null
}
