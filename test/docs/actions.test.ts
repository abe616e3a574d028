import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { actions } from "../../src/catalog.ts"
import type { Sql } from "../../src/database/types.ts"
import { actionsPart } from "../../src/docs/actions.ts"
import { escapeHtml } from "../../src/ui/html.ts"
import { freshDatabase } from "../database.ts"
import { readMarkup } from "../pages/markup.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"
import { printed } from "../shell.ts"
import { trackOwn } from "../world/tracked.ts"
import { tellAlerts } from "../writes/feed-alerts.ts"

const { text: page } = actionsPart(actions, PUBLIC_URL)

describe("the writes in the reference", () => {
  test("the reference shows every write with summary, credits, rights, arguments and two commands", () => {
    expect([...page.matchAll(/<section id="([^"]*)">/g)].map(([, id]) => id)).toEqual(actions.map(({ name }) => name))
    for (const { name, summary, credits, scope, args } of actions) {
      const section = sectionOf(page, name)
      expect(section).toContain(`<p>${escapeHtml(summary)}`)
      expect(section).toContain(credits === 0 ? '"quiet">free of charge · ' : `"quiet">${credits} credit`)
      expect(section).toContain(` · scope ${scope} · `)
      const listedActions = [...section.matchAll(/<li id="[^"]*"><a [^>]*><code>(\w+)<\/code>/g)].map(
        ([, argument]) => argument,
      )
      expect(listedActions).toEqual(Object.keys(args.entries))
      expect(linesOf(section)).toHaveLength(2)
    }
    expect(sectionOf(page, "remove_keywords")).toContain("1 credit · scope track:write · every plan · destructive<")
    expect(sectionOf(page, "add_keywords")).toContain(" · not destructive<")
    expect(sectionOf(page, "add_app")).toContain('countries</code></a>\n<span class="quiet">list of strings, default [')
    expect(page).not.toContain("undefined")
    const { unbalanced, bare } = readMarkup(page)
    expect([unbalanced, bare]).toEqual([[], []])
  })

  test("the reference shows exactly the writes of the given list", () => {
    const [first] = actions
    const other = { ...first!, name: "other_write", plan: "studio", credits: 0, outside: {} }
    const { text } = actionsPart([other], PUBLIC_URL)
    expect(text).not.toContain("add_keywords")
    expect(sectionOf(text, "other_write")).toContain(
      "free of charge · scope track:write · studio plan or above · not destructive · run by a job",
    )
    expect(linesOf(sectionOf(text, "other_write"))[0]).toContain('"action":"other_write"')
  })
})

describe("the two commands of each write, pasted into one shell with only a key", () => {
  let sql: Sql
  let service: Service
  let server: Bun.Server<undefined>

  beforeAll(async () => {
    sql = await freshDatabase()
    service = openService({ sql })
    server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => service.app.fetch(request, "127.0.0.1") })
  })
  afterAll(async () => {
    await server.stop(true)
  })

  // writes to another platform are left out, because they need a connected account
  for (const { name, credits } of actions.filter(({ outside }) => !outside)) {
    test(`the commands of ${name} preview it, show the preview and confirm it once`, async () => {
      const workspace = await service.workspace()
      // the name contains text that looks like a token and the JSON around it
      await tracked(workspace, 'Kettle "confirmToken":"confirm_no"', ["high water"])
      const key = await service.key(workspace)
      await BEFORE[name]?.(sql, workspace)
      const { text } = actionsPart(actions, server.url.origin)
      const [previewed, confirmed] = linesOf(sectionOf(text, name)) as [string, string]
      const script = [appLineOf(text), previewed, "echo", confirmed, "echo", confirmed].join("\n")
      const [preview, answer, repeated] = (await printed(script, { APPMETER_KEY: key })).filter((line) =>
        line.startsWith("{"),
      )
      expect(JSON.parse(preview!)).toMatchObject({ action: name, credits, confirmToken: expect.any(String) })
      expect(JSON.parse(answer!)).toMatchObject({ action: name, status: "applied", credits })
      expect(JSON.parse(repeated!)).toMatchObject({ error: "confirm_token_invalid" })
      const written = await sql`select action from audit where workspace_id = ${workspace}`
      expect(written.map((row) => row.action)).toEqual([name])
    })
  }

  test("the second command without a preview confirms nothing", async () => {
    const workspace = await service.workspace()
    const { text } = actionsPart(actions, server.url.origin)
    const [, confirmed] = linesOf(sectionOf(text, "remove_keywords")) as [string, string]
    const script = `PREVIEW='{"error":"not_found"}'\n${confirmed}`
    const [answer] = await printed(script, { APPMETER_KEY: await service.key(workspace) })
    expect(JSON.parse(answer!)).toMatchObject({ error: "confirm_token_invalid" })
  })

  const tracked = (workspaceId: number, name: string, keywords: string[]) =>
    trackOwn(sql, { workspaceId, iosId: "1437843273", name, keywords })
})

/** Prepares the data that each example changes. */
const BEFORE: Record<string, (sql: Sql, workspace: number) => Promise<unknown>> = {
  mark_alerts_read: (sql, workspace) => tellAlerts(sql, [{ workspace, app: null, at: "2025-10-31T10:00:00Z" }]),
  delete_alert_rule: (sql, workspace) => sql`
    insert into alert_rule (workspace_id, type, channels, drop_by, keyword_scope, created_by)
    select ${workspace}, 'rank_drop', '{slack}', 5, 'all', min(id)
    from api_key
    where workspace_id = ${workspace}`,
}

function sectionOf(text: string, name: string): string {
  return text.split(`<section id="${name}">`)[1]?.split("</section>")[0] as string
}

function linesOf(markup: string): string[] {
  return [...markup.matchAll(/<pre>([^<]*)<\/pre>/g)].map(([, line]) =>
    line!.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&amp;", "&"),
  )
}

const appLineOf = (text: string) => linesOf(text)[0] as string
