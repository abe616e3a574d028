import { afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { connect } from "node:net"
import type { Gate } from "../../src/database/gate.ts"
import type { Sql } from "../../src/database/types.ts"
import { exportFiles } from "../../src/links/export/download.ts"
import { freshDatabase } from "../database.ts"
import { type House, openHouse } from "../house.ts"
import { largeExport } from "./large-export.ts"
import { readTable } from "./read-csv.ts"

setDefaultTimeout(60_000)

let sql: Sql
let house: House
let workspace: number

beforeAll(async () => {
  sql = await freshDatabase()
  house = openHouse({ sql })
  workspace = await house.workspace()
})

type Passage = Pick<Gate, "run">

/** A gate that lets everything through and counts what asked the database. */
function counting() {
  const gate: Passage & { asked: number } = {
    asked: 0,
    run: (work) => {
      gate.asked++
      return work()
    },
  }
  return gate
}

async function streamed(token: string, gate: Passage, logged: string[] = []): Promise<ReadableStream<Uint8Array>> {
  const log = (_: string, event: string, fields?: object) => void logged.push(JSON.stringify([event, fields]))
  const { body } = await exportFiles.open({ parts: { sql, gate, log }, token, requestId: "a-request" } as never)
  return body as ReadableStream<Uint8Array>
}

describe("a large file", () => {
  test("reads a part when its reader takes it, none before, and none once the reader is gone", async () => {
    const { token } = await largeExport(sql, workspace, 30)
    const gate = counting()
    const reader = (await streamed(token, gate)).getReader()
    await Bun.sleep(30)
    expect(gate.asked).toBe(1)
    for (let taken = 1; taken <= 5; taken++) {
      await reader.read()
      await Bun.sleep(10)
      // the first that is taken is the header
      expect(gate.asked).toBe(taken)
    }
    await reader.cancel()
    await Bun.sleep(30)
    expect(gate.asked).toBe(5)
  })

  test("has every row once, in order, in both formats", async () => {
    for (const format of ["csv", "json"] as const) {
      const { token, rows } = await largeExport(sql, workspace, 3, format)
      const body = new Uint8Array(await new Response(await streamed(token, counting())).arrayBuffer())
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(body)
      const read = format === "csv" ? readTable(text) : JSON.parse(text).rows
      expect(read).toHaveLength(rows)
      const [last] = read.slice(-1)
      expect([last.term, last.day, String(last.rank)]).toEqual(["keyword 2 199", "2025-01-31", "231"])
      expect(new Set(read.map(({ term, day }: { term: string; day: string }) => `${term} ${day}`)).size).toBe(rows)
    }
  })

  test("of which a part is gone breaks off instead of ending short, and says so in the log without its token", async () => {
    const { token } = await largeExport(sql, workspace, 3)
    await sql`delete from export_part where place = 1 and export_id = (select max(id) from export)`
    const logged: string[] = []
    const outcome = await new Response(await streamed(token, counting(), logged)).text().then(
      () => "ended",
      () => "broke off",
    )
    expect(outcome).toBe("broke off")
    expect(logged.join()).toContain("export_broke_off")
    expect(logged.join()).not.toContain(token)
  })
})

describe("over a connection", () => {
  const servers: Bun.Server<undefined>[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop(true)
  })

  /** The service on a port, with a count of the parts that it has read. */
  function serving() {
    const read = { parts: 0 }
    const counted = new Proxy(sql, {
      apply(target, self, args) {
        if (args[0]?.raw?.join("").includes("from export_part")) read.parts++
        return Reflect.apply(target, self, args)
      },
    })
    const { app } = openHouse({ sql: counted })
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      development: false,
      fetch: (request) => app.fetch(request, "127.0.0.1"),
    })
    servers.push(server)
    return { read, port: server.port as number, url: `http://127.0.0.1:${server.port}` }
  }

  test("a reader that stalls holds the file up, one that goes away ends it, and neither keeps a transaction open", async () => {
    const parts = 400
    const { token } = await largeExport(sql, workspace, parts)
    const { read, port } = serving()
    const socket = connect(port, "127.0.0.1")
    socket.write(`GET /exports/${token} HTTP/1.1\r\nhost: x\r\n\r\n`)
    await new Promise((resolve) => socket.once("data", resolve))
    socket.pause()
    await settled(() => read.parts)
    const stalled = read.parts
    expect(stalled).toBeGreaterThan(0)
    expect(stalled).toBeLessThan(parts / 2)
    expect(await openTransactions()).toBe(0)
    socket.destroy()
    await settled(() => read.parts)
    expect(read.parts).toBeLessThan(stalled + 5)
    expect(await openTransactions()).toBe(0)
  })

  test("a file that breaks off is no whole file for its reader, and the server goes on", async () => {
    const { token } = await largeExport(sql, workspace, 40)
    await sql`delete from export_part where place = 30 and export_id = (select max(id) from export)`
    const { url } = serving()
    const outcome = await fetch(`${url}/exports/${token}`)
      .then((answer) => answer.text())
      .then(
        () => "whole",
        () => "broke off",
      )
    expect(outcome).toBe("broke off")
    const next = await largeExport(sql, workspace, 1)
    expect((await fetch(`${url}/exports/${next.token}`)).status).toBe(200)
  })
})

/** Waits until a count stays the same. */
async function settled(count: () => number): Promise<void> {
  for (let before = -1; before !== count(); ) {
    before = count()
    await Bun.sleep(250)
  }
}

/** The embedded database has one backend: there, whoever held a transaction would keep this statement waiting. */
async function openTransactions(): Promise<number> {
  const [row] = await sql<{ open: number }[]>`
    select count(*) as open
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and (xact_start is not null or state like 'idle in%')
      and backend_type = 'client backend'`
  return row!.open
}
