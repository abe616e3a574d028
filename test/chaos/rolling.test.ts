import { expect, setDefaultTimeout, test } from "bun:test"
import { freshDatabase } from "../database.ts"
import { until } from "../jobs/platform.ts"
import { openService } from "../service.ts"
import { slowness } from "../unit.ts"
import { booksOf, someWriter, tally } from "../writes/writer.ts"
import { type Balanced, balancer } from "./balancer.ts"
import { cannotRun, type Fleet, fleetOf, linesOf } from "./fleet.ts"

setDefaultTimeout(120_000)

/**
 * The pace of an idle machine. A busy machine gets only as many calls as it can answer, because it refuses further
 * calls with 503 even without restarts.
 */
const PER_SECOND = 200
/** Maximum number of calls in flight at once. A machine that stalls for seconds gets no more. */
const AT_ONCE = 60
const DRAIN_MS = 1_000

test.skipIf(cannotRun)(
  `postgres: two processes restarted in turn under up to ${PER_SECOND} calls a second fail no call and lose no job ` +
    "or credit",
  async () => {
    const busy = await slowness()
    const perSecond = Math.ceil(PER_SECOND / busy)
    await using fleet = await fleetOf(2, "rolling", { DRAIN_MS: String(Math.ceil(DRAIN_MS * busy)) })
    const { workspace, key, app } = await someWriter(fleet.service)
    // the platform answers slowly, so that jobs are running whenever a process is asked to stop
    fleet.platform.on("PUT", async (_, answer) => {
      await Bun.sleep(30)
      return answer()
    })
    const front = balancer(fleet.servers.map(({ url }) => url))
    const load = loadOf(front.call, key, app, perSecond)
    await Bun.sleep(1_000)
    for (const server of [...fleet.servers]) {
      await restart(fleet, server)
      await Bun.sleep(1_000)
    }
    const { calls, jobs, credits } = await load.end()
    const failed = calls.filter(({ status }) => status !== 200)
    console.log(
      `${calls.length} calls over ${front.opened()} connections, ${jobs.length} jobs, ${failed.length} failed`,
    )
    expect(tally(failed.map(({ status, body, problem }) => `${status} ${body?.error ?? problem}`))).toEqual({})
    expect(calls.length).toBeGreaterThan(perSecond * 4)
    expect(jobs.length).toBeGreaterThan(perSecond / 10)

    await until(async () => (await countUnfinished(fleet)) === 0)
    const writes = jobs.map(({ target }) => fleet.platform.writes(target).length)
    expect(writes).toEqual(jobs.map(() => 1))
    const rows = await fleet.service.sql`select distinct status from job order by status`
    expect(rows.map(({ status }) => status)).toEqual(["done"])
    const { credits: books } = await booksOf(fleet.service.sql, workspace)
    expect(books.slice(0, 3)).toEqual([credits, credits, credits])

    const lines = fleet.servers.flatMap(linesOf)
    const migrated = lines.filter(({ event }) => event === "migrated").map(({ reason }) => reason)
    expect(migrated).toEqual([...new Set(migrated)])
    expect(lines.filter(({ level }) => level === "warn" || level === "error")).toEqual([])
    front.stop()
  },
)

test("every answer of a stopping server closes its connection, and no earlier answer does", async () => {
  const { app } = openService({ sql: await freshDatabase() })
  const paths = ["/readyz", "/livez", "/docs", "/v1/openapi.json", "/v1/sandbox/apps", "/v1/apps", "/mcp", "/nothing"]
  const connectionHeaders = async () => {
    const answers = await Promise.all(paths.map((path) => app.fetch(new Request(`http://127.0.0.1${path}`), null)))
    return answers.map(({ headers }) => headers.get("connection"))
  }
  expect(await connectionHeaders()).toEqual(paths.map(() => null))
  app.setReady(false)
  expect(await connectionHeaders()).toEqual(paths.map(() => "close"))
})

/** Restarts a server: SIGTERM, the exit, and the next version on the same port. */
async function restart(fleet: Fleet, server: Fleet["servers"][number]): Promise<void> {
  const startedAt = performance.now()
  server.kill()
  expect(await server.exited).toBe(0)
  const stoppedMs = Math.round(performance.now() - startedAt)
  await fleet.start({ PORT: new URL(server.url).port })
  console.log(`stopped after ${stoppedMs} ms, serving again after ${Math.round(performance.now() - startedAt)} ms`)
}

interface Load {
  end(): Promise<{ calls: Balanced[]; jobs: { target: string }[]; credits: number }>
}

/** Calls at an even pace, with up to AT_ONCE unanswered: reads, tools, the sandbox, both kinds of writes. */
function loadOf(call: ReturnType<typeof balancer>["call"], key: string, app: string, perSecond: number): Load {
  const headers = { authorization: `Bearer ${key}` }
  const calls: Balanced[] = []
  const jobs: { target: string }[] = []
  const inFlight = new Set<Promise<void>>()
  let credits = 0
  let n = 0
  const countCall = async (answer: Promise<Balanced>, cost: (body: Balanced["body"]) => number) => {
    const result = await answer
    calls.push(result)
    if (result.status === 200) credits += cost(result.body)
    return result
  }
  const write = async (action: string, args: object) => {
    const previewed = await countCall(call("POST", "/v1/actions", headers, { action, args }), () => 0)
    const { confirmToken } = previewed.body ?? {}
    return await countCall(call("POST", "/v1/actions/confirm", headers, { confirmToken }), (body) => body.credits)
  }
  const bid = async (target: string) => {
    const { body } = await write("set_bid", { appId: app, target, bid: 2 })
    if (body?.jobId) jobs.push({ target })
  }
  const callOnce = async (at: number): Promise<unknown> => {
    if (at % 10 === 0) return await bid(`keyword-${at}`)
    if (at % 10 === 5) return await countCall(call("POST", "/mcp", mcp(headers), TOOL), () => 1)
    if (at % 10 === 7) return await countCall(call("GET", "/v1/sandbox/apps", {}), () => 0)
    return await countCall(call("GET", "/v1/apps", headers), () => 1)
  }
  const pace = setInterval(() => {
    if (inFlight.size >= AT_ONCE) return
    const pending: Promise<void> = callOnce(n++).then(() => void inFlight.delete(pending))
    inFlight.add(pending)
  }, 1_000 / perSecond)
  return {
    async end() {
      clearInterval(pace)
      await Promise.all(inFlight)
      return { calls, jobs, credits }
    },
  }
}

const TOOL = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_apps", arguments: {} } }
const mcp = (headers: Record<string, string>) => ({
  ...headers,
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2025-11-25",
})

async function countUnfinished({ service }: Fleet): Promise<number> {
  const [row] = await service.sql`select count(*) as n from job where status in ('queued', 'running')`
  return row!.n
}
