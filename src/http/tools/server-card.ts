import type { Operation } from "../../core/operation.ts"
import { LEGACY } from "./eras.ts"
import { toolOf } from "./listing.ts"
import { CAPABILITIES, INSTRUCTIONS } from "./methods.ts"
import { SERVER_INFO } from "./results.ts"

/** Paths where clients and directories look for the card of an MCP server (draft SEP-1649). */
export const SERVER_CARD_PATHS = ["/.well-known/mcp.json", "/.well-known/mcp/server-card.json"] as const

/** Describes the tool endpoint without a connection: transport, authentication and tools. */
export function serverCard(catalog: readonly Operation[], publicUrl: string): object {
  return {
    version: "1.0",
    protocolVersion: LEGACY[0],
    serverInfo: SERVER_INFO,
    description: "App store ranks, reviews, rivals and market figures, with data of connected accounts.",
    documentationUrl: `${publicUrl}/docs`,
    transport: { type: "streamable-http", endpoint: `${publicUrl}/mcp` },
    authentication: { required: true, schemes: ["oauth2", "bearer"] },
    capabilities: CAPABILITIES,
    instructions: INSTRUCTIONS,
    tools: catalog.map((operation) => toolOf(operation)),
  }
}
