import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { assertOpenFiles, watchOpenFiles } from "../../../src/commands/process/open-files.ts"
import type { SettingsProblems } from "../../../src/settings/settings.ts"
import { until } from "../../jobs/platform.ts"
import { LONG, long } from "../../long.ts"
import { appmeter, removeFolders, scratch, serving } from "../child.ts"

setDefaultTimeout(120_000)
afterAll(removeFolders)

const linux = test.skipIf(process.platform !== "linux")
const atLength = process.platform === "linux" ? long : test.skip
const MAIN = join(import.meta.dirname, "../../../src/main.ts")
const limitFiles = (files: number) => ["sh", "-c", `ulimit -n ${files}; exec "$@"`, "sh", process.execPath, MAIN]

test("open files near their limit are logged once with the fix, and their recovery is logged once", async () => {
  const lines: string[] = []
  let open = 94
  let looks = 0
  const end = watchOpenFiles((level, event, fields) => lines.push(`${level} ${event} ${fields?.reason}`), {
    limit: 100,
    count: () => {
      looks++
      return open
    },
    everyMs: 5,
  })
  const nextLook = async () => {
    const from = looks
    await until(() => looks > from + 2)
  }
  await nextLook()
  expect(lines).toEqual([])
  open = 95
  await nextLook()
  expect(lines).toEqual([expect.stringMatching(/^warn open_files_near_limit 95 of 100 .*LimitNOFILE/)])
  open = 40
  await nextLook()
  end()
  expect(lines.slice(1)).toEqual(["info open_files_recovered 40 of 100 files and connections are open"])
})

test("a limit of open files that is too low is refused with the number needed", () => {
  const problemAt = (limit: number | null, databaseUrl?: string) => {
    try {
      assertOpenFiles({ databaseUrl }, limit)
    } catch (error) {
      return (error as SettingsProblems).problems[0]!.fix
    }
  }
  expect([problemAt(1_024), problemAt(null), problemAt(256, "postgres://there")]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(problemAt(1_023)).toContain("1024 are needed")
  expect(problemAt(255, "postgres://there")).toContain("256 are needed")
})

linux("a start with a limit of 64 open files exits with 78, and a server with the default limit starts", async () => {
  const DATA_DIR = join(scratch(), "data")
  const env = { DATA_DIR, MEASURE: "no" }
  for (const command of LONG ? ["serve", "work"] : ["serve"]) {
    const { code, err } = await appmeter([command], { env, program: limitFiles(64) })
    expect([code, err]).toEqual([78, expect.stringContaining("the limit of open files is 64: 1024 are needed")])
  }
  // only long runs limit the open files of a server
  if (!LONG) return
  const server = await serving({ env })
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  server.kill()
  expect(await server.exited).toBe(0)
})

atLength("after more connections than the limit of open files, the server answers again within 10 s", async () => {
  const env = { DATA_DIR: join(scratch(), "data"), MEASURE: "no" }
  const server = await serving({ env, program: limitFiles(1_024) })
  const [key] = /svc_live_\w+/.exec(server.out())!
  const headers = { authorization: `Bearer ${key}` }
  const port = Number(new URL(server.url).port)
  const sockets: Socket[] = []
  let open = 0
  for (let i = 0; i < 1_500; i++) {
    const socket = connect(port, "127.0.0.1", () => open++)
    socket.on("error", () => {})
    sockets.push(socket)
  }
  // the operating system accepts up to 512 connections before the server opens a file for them
  await until(() => open > 1_000)
  for (const socket of sockets) socket.destroy()
  const since = performance.now()
  await until(async () => (await fetch(`${server.url}/v1/apps`, { headers }).catch(() => null))?.status === 200)
  expect(performance.now() - since).toBeLessThan(10_000)
  server.kill()
  expect(await server.exited).toBe(0)
  expect(server.err()).not.toContain("internal_error")
})
