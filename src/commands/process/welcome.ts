import { typedAs } from "../../database/assets.ts"
import type { Sql } from "../../database/types.ts"
import type { Invocation } from "../cli/command.ts"
import { show } from "../cli/show.ts"
import type { FirstKeys } from "./first-start.ts"

export interface Welcome {
  url: string
  first: FirstKeys | null
  /** Signs its owner in at a browser, once; null but at the first start. */
  signInLink: string | null
  /** An app of the first workspace whose ranks can be shown. */
  app: ShownApp | null
}

interface ShownApp {
  id: string
  country: string
}

/** Says where the server is and where assistants connect; at the first start also the keys, once, with calls to paste. */
export function welcome(invocation: Invocation, { url, first, signInLink, app }: Welcome): void {
  const calls = first && curlLines(url, first.liveKey, app)
  const value = {
    url,
    mcpUrl: `${url}/mcp`,
    signInLink,
    keys: first && { workspace: first.workspace.name, live: first.liveKey, test: first.testKey },
    calls,
  }
  show(invocation, value, () => [
    `Appmeter serves on ${url}`,
    "",
    ...(calls ? ["Try:", ...calls.map((call) => `  ${call}`), `  ${typedAs()} ranks`, ""] : []),
    `Assistants connect to ${value.mcpUrl}`,
    ...(signInLink ? [`Sign in as its owner, once, within ten minutes: ${signInLink}`] : []),
    `How it is run: ${url}/docs/operate`,
    ...(first ? ["", ...keyLines(first)] : [`Its keys were made before. A new one: ${typedAs()} key create`]),
    `What can be asked: ${url}/docs`,
    "",
  ])
}

/** The app of a workspace with the most keywords, to show its ranks. */
export async function findAppToShow(sql: Sql, workspaceId: number): Promise<ShownApp | null> {
  const [row] = await sql<ShownApp[]>`
    select a.id, t.country
    from tracked_app a
    join tracked_term t on t.app_id = a.id
    where a.workspace_id = ${workspaceId} and a.ios_app is not null
    group by a.id, t.country
    order by count(*) desc, a.id, t.country
    limit 1`
  return row ?? null
}

/** In a frame: they are never shown again. */
function keyLines({ workspace, liveKey, testKey }: FirstKeys): string[] {
  const lines = [
    `Keys of the workspace ${JSON.stringify(workspace.name)}, shown only this once:`,
    `  live  ${liveKey}`,
    `  test  ${testKey}`,
  ]
  const width = Math.max(...lines.map((line) => line.length))
  const edge = "─".repeat(width + 2)
  return [`┌${edge}┐`, ...lines.map((line) => `│ ${line.padEnd(width)} │`), `└${edge}┘`, ""]
}

function curlLines(url: string, key: string, app: ShownApp | null): string[] {
  const header = `-H 'authorization: Bearer ${key}'`
  const ranks = app ? `/apps/${encodeURIComponent(app.id)}/keywords?country=${app.country}` : "/account"
  return [
    `curl -s '${url}/v1/sandbox/apps'`,
    `curl -s ${header} '${url}/v1/apps'`,
    `curl -s ${header} '${url}/v1${ranks}'`,
  ]
}
