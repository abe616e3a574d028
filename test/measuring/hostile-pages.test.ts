import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { answer, dataFolder, removeFolders, type Serving, serving } from "../commands/child.ts"
import { long } from "../long.ts"

setDefaultTimeout(120_000)

const store = Bun.spawn([process.execPath, join(import.meta.dirname, "hostile-store.ts")], { stdout: "pipe" })
const HOSTS = ["apps.apple.com", "itunes.apple.com", "search.itunes.apple.com", "play.google.com"]
const running: Serving[] = []

afterAll(async () => {
  for (const server of running) server.kill("SIGKILL")
  store.kill()
  removeFolders()
})

// short runs skip this test, because test/stores/parsing/hostile.test.ts parses the same pages with time limits
long("hostile store pages do not slow down API calls, and take less than 150 MB of additional memory", async () => {
  const folder = await dataFolder()
  const all = (value: string | number) => HOSTS.map((host) => `${host}=${value}`).join(",")
  const { value } = await store.stdout.getReader().read()
  const address = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}`
  const servedPages = async () => (await (await fetch(`${address}/given`)).json()) as number
  const env = {
    ...folder,
    MEASURE: "yes",
    UPSTREAM_URLS: all(address),
    UPSTREAM_GAPS_MS: all(100),
    FIRST_WORKSPACE_RATE_PER_SECOND: "100000",
  }
  const server = await serving({ env })
  running.push(server)
  const key = /svc_live_\w{36}/.exec(server.out())![0]
  const callMs = async () => {
    const began = performance.now()
    const response = await fetch(`${server.url}/v1/apps`, { headers: { authorization: `Bearer ${key}` } })
    await response.arrayBuffer()
    expect(response.status).toBe(200)
    return performance.now() - began
  }
  // calls need more memory at first, until compiled code and caches have reached their size
  await times(2_000, callMs)
  const track = async (name: string, ios: string) => {
    const words = Array.from({ length: 30 }, (_, at) => ["--keyword", `${name} ${at}`]).flat()
    await answer(["app", "add", name, "--ios", ios, "--android", `com.example.${name}`, ...words], { env })
  }
  // the statements and the thread that reads the stores need memory too
  await track("tides", "1234567890")
  while ((await servedPages()) < 30) await times(5, callMs)
  const idleMs = await times(200, callMs)
  const idleMb = megabytes(server.pid, "VmHWM")

  const { given: before, pages } = (await (await fetch(`${address}/hostile`)).json()) as Record<string, number>
  await track("moons", "1234567891")
  const busyMs: number[] = []
  while ((await servedPages()) < before! + 2 * pages!) {
    busyMs.push(...(await times(5, callMs)))
    await Bun.sleep(20)
  }
  const peakMb = megabytes(server.pid, "VmHWM")

  process.stdout.write(
    `p99 ${p99(idleMs).toFixed(1)} ms idle, ${p99(busyMs).toFixed(1)} ms over ${busyMs.length} calls; ` +
      `${Math.round(idleMb)} MB before, ${Math.round(peakMb - idleMb)} MB more\n`,
  )
  expect(p99(busyMs)).toBeLessThan(10 * p99(idleMs) + 100)
  // 73 to 106 MB in four runs
  expect(peakMb - idleMb).toBeLessThan(150)
  expect(
    server
      .err()
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("{")),
  ).toEqual([])
})

async function times(count: number, work: () => Promise<number>): Promise<number[]> {
  const took: number[] = []
  for (let time = 0; time < count; time++) took.push(await work())
  return took
}

function p99(took: readonly number[]): number {
  return took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)]!
}

function megabytes(pid: number, name: string): number {
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024
}
