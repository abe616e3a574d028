// bun test/bench/tools.ts — calls as a tool against the same calls by REST, in one process without sockets, as ratios.
import { freshDatabase } from "../database.ts"
import { openHouse, PUBLIC_URL } from "../house.ts"

const ROUNDS = 9
const CALLS = 300

const house = openHouse({ sql: await freshDatabase() })
const workspace = await house.workspace({ plan: "enterprise" })
const live = await house.key(workspace)
const sandboxed = await house.key(workspace, { kind: "test" })

const rest = (key: string, path: string) =>
  new Request(`${PUBLIC_URL}${path}`, { headers: { authorization: `Bearer ${key}` } })

const rpc = (key: string, method: string, params: object = {}) =>
  new Request(`${PUBLIC_URL}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  })

/** Microseconds a request, made and read whole. */
async function each(make: () => Request): Promise<number> {
  const started = Bun.nanoseconds()
  for (let i = 0; i < CALLS; i++) {
    const response = await house.app.fetch(make(), "127.0.0.1")
    await response.text()
    if (response.status !== 200) throw new Error(`status ${response.status}`)
  }
  house.logged.length = 0
  return (Bun.nanoseconds() - started) / 1_000 / CALLS
}

async function compare(what: string, tool: () => Request, other: () => Request): Promise<void> {
  const times: [number, number][] = []
  await each(tool)
  await each(other)
  for (let round = 0; round < ROUNDS; round++) times.push([await each(tool), await each(other)])
  const middle = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] as number
  const [tools, others] = [middle(times.map(([a]) => a)), middle(times.map(([, b]) => b))]
  const ratio = middle(times.map(([a, b]) => a / b)).toFixed(2)
  console.log(`${what}: ${Math.round(tools)} us, ${ratio} of REST's ${Math.round(others)} us`)
}

const call = (key: string, name: string) => () => rpc(key, "tools/call", { name })
await compare("whoami", call(live, "whoami"), () => rest(live, "/v1/account"))
await compare("whoami from the sandbox", call(sandboxed, "whoami"), () => rest(sandboxed, "/v1/account"))
await compare(
  "ping, to REST's whoami from the sandbox",
  () => rpc(live, "ping"),
  () => rest(sandboxed, "/v1/account"),
)
await compare(
  "tools/list, to the same",
  () => rpc(live, "tools/list"),
  () => rest(sandboxed, "/v1/account"),
)
process.exit(0)
