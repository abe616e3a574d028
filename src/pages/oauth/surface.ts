import { perSecondCounter } from "../../access/limits/limiter.ts"
import { resourceMetadata, serverMetadata } from "../../access/oauth/metadata.ts"
import { OAuthProblem } from "../../access/oauth/problem.ts"
import type { OAuthParts } from "../../access/oauth/server.ts"
import { Fault } from "../../lib/faults.ts"
import type { PageAnswer } from "../../ui/answer.ts"
import type { PageRoute, PageVisit } from "../../ui/routes.ts"
import { documentAnswer, PREFLIGHT, problemAnswer } from "./answers.ts"
import { openAuthorization } from "./consent.ts"
import { openRegistration } from "./registration.ts"
import { openRevocation, openToken } from "./token-endpoint.ts"

/** Maximum POSTs per second from one address. Tokens cannot be guessed, but each attempt queries the database. */
const PER_SECOND = 50

/** The routes that an assistant and its owner need to sign in. */
export function oauthRoutes(parts: OAuthParts): PageRoute[] {
  const count = perSecondCounter()
  const limited = (open: PageRoute["open"]) => async (visit: PageVisit) => {
    const { allowed } = count(visit.address ?? "unknown", PER_SECOND, parts.now())
    if (!allowed) throw new Fault("rate_limited", { limit: PER_SECOND })
    return await open(visit)
  }
  const resource = documentAnswer(resourceMetadata(parts.publicUrl))
  const server = documentAnswer(serverMetadata(parts.publicUrl))
  return [
    ...variantsOf("oauth-protected-resource").map((path) => document(path, resource)),
    ...variantsOf("oauth-authorization-server").map((path) => document(path, server)),
    ...variantsOf("openid-configuration").map((path) => document(path, server)),
    {
      path: "/oauth/authorize",
      methods: ["GET", "HEAD", "POST"],
      open: (visit) => openAuthorization(parts, visit),
    },
    endpoint(
      "/oauth/token",
      limited((visit) => openToken(parts, visit)),
    ),
    endpoint(
      "/oauth/register",
      limited((visit) => openRegistration(parts, visit)),
    ),
    endpoint(
      "/oauth/revoke",
      limited((visit) => openRevocation(parts, visit)),
    ),
  ]
}

/**
 * Returns the paths where clients look for a document: at the root, and with the path of the tool endpoint appended or
 * prepended.
 */
function variantsOf(name: string): string[] {
  const path = `/.well-known/${name}`
  return [path, `${path}/mcp`, `/mcp${path}`]
}

function document(path: string, answer: PageAnswer): PageRoute {
  const open = async ({ request }: PageVisit) => (request.method === "OPTIONS" ? PREFLIGHT : answer)
  return { path, methods: ["GET", "HEAD", "OPTIONS"], open }
}

/** A route that programs send POST requests to. Refusals have the format of OAuth errors. */
function endpoint(path: string, open: (visit: PageVisit) => Promise<PageAnswer>): PageRoute {
  return {
    path,
    methods: ["POST", "OPTIONS"],
    async open(visit) {
      if (visit.request.method === "OPTIONS") return PREFLIGHT
      try {
        return await open(visit)
      } catch (error) {
        if (error instanceof OAuthProblem) return problemAnswer(error)
        throw error
      }
    },
  }
}
