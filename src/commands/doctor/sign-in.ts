import { RESOURCE_METADATA_PATH } from "../../access/oauth/metadata.ts"
import { resourceOf } from "../../access/oauth/server.ts"
import type { Invocation } from "../cli/command.ts"
import { type Finding, ok, problem, warning } from "./finding.ts"

const THING = "sign-in"

/**
 * Checks whether assistants that know only the tool endpoint can sign in. Sends the same requests as an assistant to
 * PUBLIC_URL, because only these requests show what a proxy in between blocks.
 */
export async function checkSignIn({ settings: { publicUrl } }: Pick<Invocation, "settings">): Promise<Finding[]> {
  if (publicUrl === undefined) return []
  try {
    return [(await findObstacle(publicUrl)) ?? ok(THING, `assistants sign in at ${resourceOf(publicUrl)}`)]
  } catch {
    const fix = "start the server, or check DNS, the proxy and its certificate, then run this again"
    return [warning(THING, `${publicUrl} does not answer this machine`, fix)]
  }
}

/** Returns the first obstacle, in the order in which a client meets them. */
async function findObstacle(publicUrl: string): Promise<Finding | null> {
  const endpoint = await ask(resourceOf(publicUrl), { method: "POST" })
  const challenge = endpoint.headers.get("www-authenticate") ?? ""
  if (endpoint.status !== 401 || !challenge.includes(`resource_metadata="${publicUrl}${RESOURCE_METADATA_PATH}"`))
    return problem(THING, `${resourceOf(publicUrl)} answers ${endpoint.status} without a way to sign in`, PASS_ON)
  const resource = await document(`${publicUrl}${RESOURCE_METADATA_PATH}`)
  if (resource?.resource !== resourceOf(publicUrl)) return unlike(RESOURCE_METADATA_PATH)
  const server = await document(`${publicUrl}${SERVER_PATH}`)
  // clients compare the issuer character by character
  return server?.issuer === publicUrl ? null : unlike(SERVER_PATH)
}

const SERVER_PATH = "/.well-known/oauth-authorization-server"

const PASS_ON =
  "let the proxy pass on /mcp, /.well-known/ and /oauth/ without a bot check (see appmeter packaging nginx), " +
  "and set the same PUBLIC_URL for the server"

function unlike(path: string): Finding {
  return problem(THING, `${path} is not the document that a server with this PUBLIC_URL sends`, PASS_ON)
}

const TIMEOUT_MS = 5_000

async function ask(address: string, init: RequestInit = {}): Promise<Response> {
  return await fetch(address, { ...init, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) })
}

async function document(address: string): Promise<Record<string, unknown> | null> {
  const response = await ask(address)
  return response.status === 200 ? await response.json().catch(() => null) : null
}
