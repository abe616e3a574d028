import { SCOPES } from "../scopes.ts"
import { resourceOf } from "./server.ts"

/** Path of the document that names the authorization server of the tool endpoint. The 401 challenge links to it. */
export const RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource/mcp"

/** The protected resource metadata of RFC 9728. */
export function resourceMetadata(publicUrl: string): object {
  return {
    resource: resourceOf(publicUrl),
    authorization_servers: [publicUrl],
    scopes_supported: SCOPES,
    bearer_methods_supported: ["header"],
    resource_name: "Appmeter",
    resource_documentation: `${publicUrl}/docs`,
  }
}

/**
 * The authorization server metadata of RFC 8414. `offline_access` is not a scope of the resource: every client gets
 * refresh tokens.
 */
export function serverMetadata(publicUrl: string): object {
  return {
    issuer: publicUrl,
    authorization_endpoint: `${publicUrl}/oauth/authorize`,
    token_endpoint: `${publicUrl}/oauth/token`,
    registration_endpoint: `${publicUrl}/oauth/register`,
    revocation_endpoint: `${publicUrl}/oauth/revoke`,
    scopes_supported: [...SCOPES, "offline_access"],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    protected_resources: [resourceOf(publicUrl)],
    service_documentation: `${publicUrl}/docs/operate/signin`,
  }
}
