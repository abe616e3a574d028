import { typedAs } from "../../database/assets.ts"
import type { Sql } from "../../database/types.ts"
import type { Invocation } from "../cli/command.ts"
import { show } from "../cli/show.ts"
import type { FirstKeys } from "./first-start.ts"

export interface Welcome {
  url: string
  first: FirstKeys | null
  /** A link that works once and signs the owner in with a browser. Null after the first start. */
  signInLink: string | null
  /** An app of the first workspace with ranks to show. Null without the demo. */
  app: ShownApp | null
}

interface ShownApp {
  id: string
  country: string
}

/**
 * Prints the server's addresses. At the first start it also prints keys, a sign-in link and what to try, in at most
 * twelve lines.
 */
export function welcome(invocation: Invocation, { url, first, signInLink, app }: Welcome): void {
  const calls = first && curlLines(url, first.liveKey, app)
  const value = {
    url,
    mcpUrl: `${url}/mcp`,
    signInLink,
    keys: first && { workspace: first.workspace.name, live: first.liveKey, test: first.testKey },
    calls,
  }
  const program = typedAs()
  show(invocation, value, () => [
    `Appmeter runs at ${url}`,
    "",
    ...(signInLink ? [`Sign in, once within 10 minutes: ${signInLink}`] : [`Sign in: ${program} sign-in`]),
    ...(first ? keyLines(first) : [`Create a key: ${program} key create`]),
    ...(calls
      ? ["", "Try next:", `  ${program} ${app ? "ranks" : "app add 'Name of your app'"}`, `  ${calls.at(-1)}`]
      : []),
    "",
    `Assistants connect to ${value.mcpUrl}`,
    `Reference and manual: ${url}/docs`,
  ])
}

/** Returns the App Store app and its storefront with the most keywords. Null if the workspace tracks none. */
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

function keyLines({ liveKey, testKey }: FirstKeys): string[] {
  return [`Live key, shown only now: ${liveKey}`, `Test key, for the sandbox: ${testKey}`]
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
