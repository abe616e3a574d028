/** The fields of a client's document that are used here. */
export interface ClientDocument {
  name: string
  redirectUris: string[]
}

/**
 * Documents of common clients as of November 2026. Their servers refuse requests from data centres, and a server behind
 * a firewall cannot fetch them. A copy that can be fetched takes precedence.
 */
export const PINNED: ReadonlyMap<string, ClientDocument> = new Map([
  [
    "https://claude.ai/oauth/mcp-oauth-client-metadata",
    { name: "Claude", redirectUris: ["https://claude.ai/api/mcp/auth_callback"] },
  ],
  [
    "https://claude.ai/oauth/claude-code-client-metadata",
    { name: "Claude Code", redirectUris: ["http://localhost/callback", "http://127.0.0.1/callback"] },
  ],
  [
    "https://chatgpt.com/oauth/client.json",
    { name: "ChatGPT", redirectUris: ["https://chatgpt.com/connector_platform_oauth_redirect"] },
  ],
  [
    "https://chatgpt.com/oauth/codex/client.json",
    { name: "Codex", redirectUris: ["http://localhost/callback", "http://127.0.0.1/callback"] },
  ],
  [
    "https://vscode.dev/oauth/client-metadata.json",
    {
      name: "Visual Studio Code",
      redirectUris: ["http://127.0.0.1:33418/", "https://vscode.dev/redirect"],
    },
  ],
])
