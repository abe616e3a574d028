import { afterAll, beforeAll, expect, test } from "bun:test"
import { dayOf } from "../../src/lib/days.ts"
import { DAY_MS } from "../../src/lib/time.ts"
import { freshDatabase } from "../database.ts"
import { pageOf } from "../docs/pages.ts"
import { openService, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"
import { listOf, OWN } from "./derived-alerts.ts"
import { importAll } from "./import-world.ts"

/** The program in the manual, which a person copies into a file. */
const LINES = /```js\n([\s\S]+?)\n```/.exec(pageOf("alerts"))?.[1] ?? ""
const now = new Date()
const dayBefore = (days: number) => dayOf(new Date(now.getTime() - days * DAY_MS))

let service: Service
let server: Bun.Server<undefined>
let slack: Bun.Server<undefined>
let key: string
const posted: { text: string }[] = []
let slackStatus = 200

beforeAll(async () => {
  const sql = await freshDatabase()
  service = openService({ sql, now: () => now })
  server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => service.app.fetch(request, "127.0.0.1") })
  slack = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      posted.push((await request.json()) as { text: string })
      return new Response("", { status: slackStatus })
    },
  })
  const workspaceId = await service.workspace()
  key = await service.key(workspaceId)
  await trackOwn(sql, { workspaceId, iosId: OWN, keywords: ["tea", "mate"] })
  const places = { tea: [3, 15, 15], mate: [4, 4, 30] }
  const lines = Object.entries(places).flatMap(([term, ranks]) =>
    ranks.map((rank, at) => {
      const results = listOf(rank, 60).map((id) => ({ id }))
      const place = { platform: "ios", storefront: "us", term, seenAt: `${dayBefore(3 - at)}T08:00:00Z` }
      return JSON.stringify({ kind: "search", source: "import", ...place, depth: results.length, results })
    }),
  )
  await importAll(sql, lines, now)
}, 60_000)

afterAll(async () => {
  await Promise.all([server.stop(true), slack.stop(true)])
})

/** Runs the manual's lines as a program. Returns its exit code and what it wrote to stderr. */
async function run(secret: string): Promise<{ code: number; errors: string }> {
  const env = {
    ...process.env,
    APPMETER_URL: `http://127.0.0.1:${server.port}`,
    APPMETER_KEY: secret,
    SLACK_URL: `http://127.0.0.1:${slack.port}/services/x`,
  }
  const child = Bun.spawn([process.execPath, "-"], { env, stdin: new Blob([LINES]), stdout: "ignore", stderr: "pipe" })
  const errors = await new Response(child.stderr).text()
  return { code: await child.exited, errors }
}

test("the manual's eight-line script posts only yesterday's rank drops to Slack", async () => {
  expect(LINES.split("\n")).toHaveLength(8)
  expect(await run(key)).toEqual({ code: 0, errors: "" })
  expect(posted.splice(0)).toEqual([{ text: expect.stringMatching(/: "mate" fell from 4 to 30 in the US App Store$/) }])
})

test("the manual's eight-line script fails with an error message if the API or Slack refuses its request", async () => {
  expect((await run("am_live_wrong")).errors).toContain("key")
  expect(posted).toEqual([])
  slackStatus = 403
  const refused = await run(key)
  expect([refused.code === 0, refused.errors.includes("Slack answered 403")]).toEqual([false, true])
})
