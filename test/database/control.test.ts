import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { openDatabase } from "../../src/database/connect.ts"
import { controlStream } from "../../src/database/embedded/control.ts"
import { silentLog } from "../../src/lib/log.ts"
import { long } from "../long.ts"
import { scratchFolder, startHolder } from "./processes.ts"

setDefaultTimeout(60_000)
const { folder, remove } = scratchFolder()
afterAll(remove)

long("a client's queries fail with the reason after its server is killed, and work with the next server", async () => {
  const dataDir = join(folder, "killed")
  const holder = startHolder("server", dataDir)
  await holder.opened()
  const { sql, close } = await openDatabase({ as: "command", dataDir, log: silentLog, maxConnections: 2 })
  await sql`select 1 as one`
  const uncaught: unknown[] = []
  const note = (error: unknown) => void uncaught.push(error)
  process.on("uncaughtException", note)
  await holder.end("SIGKILL")

  // The existing connections learn that they are closed.
  await Promise.all(Array.from({ length: 4 }, () => sql`select 2 as two`.catch(() => {})))
  const reason = `the process that held the database in ${dataDir} has ended`
  for (const code of ["ECONNREFUSED", "ENOENT"]) {
    const failures = await Promise.all(Array.from({ length: 5 }, () => sql`select 3 as three`.catch((error) => error)))
    for (const error of failures)
      expect([error.name, error.code, error.message]).toEqual(["DatabaseProblem", code, reason])
    expect((await sql.begin((tx) => tx`select 4 as four`).catch((error) => error)).message).toBe(reason)
    rmSync(join(dataDir, "control.sock"), { force: true })
  }

  const next = startHolder("server", dataDir)
  await next.opened()
  expect([...(await sql`select 5 as five`)]).toEqual([{ five: 5 }])
  await close()
  await next.end("SIGTERM")
  process.off("uncaughtException", note)
  expect(uncaught).toEqual([])
})

test("a stream to a stopped server delays its error until an error listener is attached", async () => {
  const empty = join(folder, "empty")
  mkdirSync(empty)
  const stream = await controlStream(empty)
  const { promise, resolve } = Promise.withResolvers<Error>()
  stream.on("error", resolve)
  stream.write("a startup message that nobody reads")
  expect(await promise).toMatchObject({ name: "DatabaseProblem", code: "ENOENT" })
})
