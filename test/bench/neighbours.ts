// bun test/bench/neighbours.ts — measures how long calls of a workspace take while another workspace reads an app with
// very many keywords five times a second, and in the seconds after; and during 48 concurrent searches, as ratios.
// ONLY=searches omits the rest. With DATABASE_URL on that server, else embedded.
import { freshDatabase } from "../database.ts"
import { trackLarge } from "../keywords/large-app.ts"
import { openService, PUBLIC_URL } from "../service.ts"

const KEYWORDS = Number(process.env.KEYWORDS ?? 5_000)
const SECONDS = Number(process.env.SECONDS ?? 10)
const READS = Number(process.env.READS ?? 600)

const sql = await freshDatabase()
const service = openService({ sql })
const [large, small] = [await service.workspace(), await service.workspace()]
const [largeKey, smallKey] = [await service.key(large), await service.key(small)]
const app = await trackLarge(sql, large, KEYWORDS)
const appId = await trackLarge(sql, small, 30)

async function timeCall(path: string, key: string) {
  const startedAt = performance.now()
  // over a connection: the checks of a test service would take longer than a large answer
  const request = new Request(`${PUBLIC_URL}${path}`, { headers: { authorization: `Bearer ${key}` } })
  const answer = await service.app.fetch(request, "127.0.0.1")
  const text = await answer.text()
  const ms = performance.now() - startedAt
  return { status: answer.status, ms, bytes: text.length, detail: answer.ok ? undefined : JSON.parse(text).detail }
}

const PATHS = process.env.ONLY === "searches" ? [] : ["keywords", "rivals"]
for (const path of PATHS)
  for (let i = 0; i < 3; i++) {
    const { status, ms, bytes } = await timeCall(`/v1/apps/${app}/${path}`, largeKey)
    console.log(`${path} of ${KEYWORDS}: ${status} in ${ms.toFixed(0)} ms, ${bytes} bytes`)
  }

async function measureOthers(seconds: number) {
  const results: Awaited<ReturnType<typeof timeCall>>[] = []
  const until = performance.now() + seconds * 1_000
  for (let call = 0; performance.now() < until; call++) {
    results.push(await timeCall(["/v1/account", `/v1/apps/${appId}/keywords`, "/v1/apps"][call % 3]!, smallKey))
    await Bun.sleep(20)
  }
  const times = results.map(({ ms }) => ms).sort((a, b) => a - b)
  const quantile = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))]!.toFixed(1)
  return (
    `${results.length} calls, p50 ${quantile(0.5)} p90 ${quantile(0.9)} p99 ${quantile(0.99)} max ${quantile(1)} ms, ` +
    `not 200: ${results.filter(({ status }) => status !== 200).length}`
  )
}

await measureOthers(1)
if (PATHS.length > 0) console.log(`idle: ${await measureOthers(SECONDS / 2)}`)
for (const path of PATHS) {
  const flood: Promise<Awaited<ReturnType<typeof timeCall>>>[] = []
  const sender = setInterval(() => flood.push(timeCall(`/v1/apps/${app}/${path}`, largeKey)), 200)
  console.log(`beside five ${path} a second: ${await measureOthers(SECONDS)}`)
  clearInterval(sender)
  console.log(`after: ${await measureOthers(1)}`)
  const ends = await Promise.all(flood)
  const counts = Object.entries(Object.groupBy(ends, ({ status }) => status)).map(
    ([status, all]) => `${status}: ${all!.length}`,
  )
  console.log(`  ${counts.join(", ")}; ${ends.find(({ detail }) => detail)?.detail ?? ""}`)
}

/** Makes calls of the small workspace, one after another. Returns their milliseconds. */
async function readsOf(calls: number): Promise<number[]> {
  const times: number[] = []
  for (let call = 0; call < calls; call++) {
    const { status, ms } = await timeCall(`/v1/apps/${appId}/keywords`, smallKey)
    if (status !== 200) throw new Error(`the small workspace was answered ${status}`)
    times.push(ms)
  }
  return times
}

/** Runs `work` while 48 searches are in flight. Returns the number of searches answered a second. */
async function duringSearches(work: () => Promise<unknown>): Promise<number> {
  let isOver = false
  let answered = 0
  const senders = Array.from({ length: 48 }, async () => {
    while (!isOver) {
      const { status } = await timeCall("/v1/search?q=word", largeKey)
      if (status !== 200) throw new Error(`a search was answered ${status}`)
      answered++
    }
  })
  await Bun.sleep(300)
  const before = answered
  const startedAt = performance.now()
  await work()
  const perSecond = ((answered - before) * 1_000) / (performance.now() - startedAt)
  isOver = true
  await Promise.all(senders)
  return perSecond
}

// in alternation, because the speed of a shared machine varies from second to second
const ROUNDS = 10
const idle: number[] = []
const loaded: number[] = []
let searches = 0
for (let round = 0; round < ROUNDS; round++) {
  idle.push(...(await readsOf(READS / ROUNDS)))
  searches += (await duringSearches(async () => loaded.push(...(await readsOf(READS / ROUNDS))))) / ROUNDS
}
const searchesAlone = await duringSearches(() => Bun.sleep(3_000))
for (const times of [idle, loaded]) times.sort((a, b) => a - b)
const ratios = [0.5, 0.95, 0.99].map((part) => {
  const at = Math.min(READS - 1, Math.floor(READS * part))
  return `p${part * 100} ${(loaded[at]! / idle[at]!).toFixed(1)} times (${loaded[at]!.toFixed(0)} ms)`
})
console.log(
  `beside 48 searches at once: ${ratios.join(", ")}; ${searches.toFixed(0)} searches a second, ` +
    `${searchesAlone.toFixed(0)} alone`,
)
process.exit(0)
