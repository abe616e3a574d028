import { SCOPES, type Scope } from "../../access/scopes.ts"
import type { Reply } from "../../core/invoke.ts"

/** The minimum scope for a sign-in. Refused calls name the other scopes that a client needs. */
const MIN_SCOPE: Scope = "apps:read"

/**
 * Returns the challenge that makes an OAuth client sign in or request more scopes (RFC 6750, RFC 9728): the address of
 * the metadata and the scopes. Undefined if signing in does not help, because a key's rights do not change.
 */
export function challengeOf({ fault, caller }: Reply, resourceMetadata: string): string | undefined {
  if (fault?.status === 401) {
    const error = fault.code === "missing_api_key" ? [] : [`error="invalid_token"`]
    return challenge([...error, `resource_metadata="${resourceMetadata}"`, `scope="${MIN_SCOPE}"`])
  }
  if (fault?.code !== "scope_required" || caller?.kind !== "grant") return undefined
  // includes the current scopes, because a client may request only the scopes listed here
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
