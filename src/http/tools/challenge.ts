import { SCOPES, type Scope } from "../../access/scopes.ts"
import type { Reply } from "../../core/invoke.ts"

/** The least that is worth signing in for: what else a client needs, the answer to its call says. */
const LEAST: Scope = "apps:read"

/**
 * What a client that speaks OAuth must hear to sign in, or to ask for more (RFC 6750, RFC 9728): where the metadata is,
 * and which scopes. Undefined where signing in would not help: the rights of a key do not grow by it.
 */
export function challengeOf({ fault, caller }: Reply, resourceMetadata: string): string | undefined {
  if (fault?.status === 401) {
    const error = fault.code === "missing_api_key" ? [] : [`error="invalid_token"`]
    return challenge([...error, `resource_metadata="${resourceMetadata}"`, `scope="${LEAST}"`])
  }
  if (fault?.code !== "scope_required" || caller?.kind !== "grant") return undefined
  // with what it has: a client may ask for nothing but what it reads here
  const scopes = SCOPES.filter((scope) => scope === fault.extra.scope || caller.scopes.includes(scope))
  const description = `error_description="This call needs the scope ${fault.extra.scope}."`
  return challenge([
    `error="insufficient_scope"`,
    description,
    `resource_metadata="${resourceMetadata}"`,
    `scope="${scopes.join(" ")}"`,
  ])
}

function challenge(parts: readonly string[]): string {
  return `Bearer ${[`realm="appmeter"`, ...parts].join(", ")}`
}
