import { resolve } from "node:path"
import { programPath } from "../../database/assets.ts"
import { assistantSections } from "../../docs/assistants.ts"
import { listeningUrl } from "../../settings/settings.ts"
import type { Deployment } from "./deployment.ts"

/** Returns the configurations of assistants, with the path of this program. They contain no secrets. */
export function assistantFiles({ settings, name }: Deployment): string {
  const { host, port, publicUrl, dataDir, databaseUrl, assistant } = settings
  const named = name === undefined ? undefined : `https://${name}`
  const given = named ?? assistant.url?.replace(/\/(mcp)?\/*$/, "") ?? publicUrl
  const origin = given ?? listeningUrl(host, port)
  // a database address contains a password, which must not be in these files, so they contain the address of a server
  // instead
  const place: Record<string, string> = given || databaseUrl ? { APPMETER_URL: origin } : { DATA_DIR: resolve(dataDir) }
  const { command, args } = programPath()
  return `# Connect an assistant to Appmeter

\`appmeter key create --name assistant\` makes a key. Both ways provide the same tools: the daily ones. To
choose others, set \`--tools keywords,reviews\` in the arguments or \`?tools=keywords,reviews\` in the address. Without
either, all tools are provided.

${assistantSections({ command, args: [...args, "mcp", "--tools", "daily"], place, url: `${origin}/mcp?tools=daily` })}
`
}
