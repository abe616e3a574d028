import { resolve } from "node:path"
import { programPath } from "../../database/assets.ts"
import { assistantSections } from "../../docs/assistants.ts"
import { listeningUrl } from "../../settings/settings.ts"
import type { Deployment } from "./deployment.ts"

/** Configurations of assistants, with the path of this program. They contain no secrets. */
export function assistantFiles({ settings, name }: Deployment): string {
  const { host, port, publicUrl, dataDir, databaseUrl, assistant } = settings
  const named = name === undefined ? undefined : `https://${name}`
  const given = named ?? assistant.url?.replace(/\/(mcp)?\/*$/, "") ?? publicUrl
  const origin = given ?? listeningUrl(host, port)
  // the address of a database holds its password: it has no business in these files, and its server is asked instead
  const place: Record<string, string> = given || databaseUrl ? { APPMETER_URL: origin } : { DATA_DIR: resolve(dataDir) }
  const { command, args } = programPath()
  return `# Connect an assistant to Appmeter

\`appmeter key create --name assistant\` makes a key. Both ways give the same tools: those of every day.
\`--tools keywords,reviews\` among the arguments, or \`?tools=keywords,reviews\` behind the address, chooses others;
without either there are all.

${assistantSections({ command, args: [...args, "mcp", "--tools", "daily"], place, url: `${origin}/mcp?tools=daily` })}
`
}
