import { afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { connect } from "node:net"
import type { Gate } from "../../src/database/gate.ts"
import type { Sql } from "../../src/database/types.ts"
import { createExportFiles } from "../../src/sharing/export/download.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { openService, type Service } from "../service.ts"
import { largeExport } from "./large-export.ts"
import { readTable } from "./read-csv.ts"

setDefaultTimeout(60_000)

let sql: Sql
let service: Service
let workspace: number

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
  workspace = await service.workspace()
})

type Passage = Pick<Gate, "run">

/** A gate that admits everything and counts the queries. */
function counting() {
  const gate: Passage & { requested: number } = {
    requested: 0,
    run: (work) => {
      gate.requested++
      return work()
    },
  }
  return gate
}

interface Opened {
  logged?: string[]
  files?: ReturnType<typeof createExportFiles>
  address?: string
}

async function streamed(
  token: string,
  gate: Passage,
  { logged = [], files = createExportFiles(), address = "192.0.2.1" }: Opened = {},
): Promise<ReadableStream<Uint8Array>> {
  return (await opened(token, gate, { logged, files, address })).body as ReadableStream<Uint8Array>
}

async function opened(
  token: string,
  gate: Passage,
  { logged = [], files = createExportFiles(), address = "" }: Opened,
) {
  const log = (_: string, event: string, fields?: object) => void logged.push(JSON.stringify([event, fields]))
  return await files.open({
    parts: { sql, gate, log },
    request: new Request("http://x/"),
    token,
    requestId: "a-request",
    address,
  } as never)
}

describe("a large file", () => {
  slow("a download reads each part of a large file from the database only when the client needs it", async () => {
    const { token } = await largeExport(sql, workspace, 30)
    const gate = counting()
    const reader = (await streamed(token, gate)).getReader()
    await Bun.sleep(30)
    expect(gate.requested).toBe(1)
    // the first piece is the header; a part of 6,200 rows has 124 pieces
    const consumed = async (pieces: number) => {
      for (let n = 0; n < pieces; n++) expect((await reader.read()).value!.length).toBeLessThan(65_536)
      await Bun.sleep(10)
      return gate.requested - 1
    }
    expect([await consumed(1), await consumed(1), await consumed(123), await consumed(1), await consumed(123)]).toEqual(
      [0, 1, 1, 2, 2],
    )
    await reader.cancel()
    await Bun.sleep(30)
    expect(gate.requested - 1).toBe(2)
  })

  slow("a large file has every row exactly once, as CSV and as JSON", async () => {
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

  test("a download with a missing part is aborted and logged without the link's token", async () => {
    const { token } = await largeExport(sql, workspace, 3)
    await sql`delete from export_part where place = 1 and export_id = (select max(id) from export)`
    const logged: string[] = []
    const outcome = await new Response(await streamed(token, counting(), { logged })).text().then(
      () => "ended",
      () => "broke off",
    )
    expect(outcome).toBe("broke off")
    expect(logged.join()).toContain("export_interrupted")
    expect(logged.join()).not.toContain(token)
  })
})

describe("idle readers", () => {
  slow("concurrent downloads are limited per link, per address and in total", async () => {
    const files = createExportFiles()
    const [first, second] = [await largeExport(sql, workspace, 3), await largeExport(sql, workspace, 3)]
    const begin = (token: string, address: string) => opened(token, counting(), { files, address })
    const streams = []
    for (let n = 0; n < 4; n++) streams.push(await begin(first.token, "192.0.2.1"))
    expect(streams.map(({ status }) => status)).toEqual(Array(4).fill(200))
    const refused = await begin(first.token, "192.0.2.2")
    expect([refused.status, refused.headers?.["retry-after"]]).toEqual([429, "30"])
    expect((await begin(second.token, "192.0.2.1")).status).toBe(429)
    await (streams[0]!.body as ReadableStream).cancel()
    expect((await begin(second.token, "192.0.2.1")).status).toBe(200)
    const more = await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        const { token } = await largeExport(sql, workspace, 1)
        return (await begin(token, `198.51.100.${n}`)).status
      }),
    )
    expect(more.filter((status) => status === 200)).toHaveLength(16 - 4)
    expect(more.filter((status) => status === 429)).toHaveLength(40 - 12)
  })

  slow("a download whose client accepts no data is aborted and logged, and a new download can start", async () => {
    const files = createExportFiles(200)
    const { token } = await largeExport(sql, workspace, 3)
    const logged: string[] = []
    const bodies = []
    for (let n = 0; n < 4; n++) bodies.push(await streamed(token, counting(), { files, logged }))
    const reader = bodies[0]!.getReader()
    await reader.read()
    expect((await opened(token, counting(), { files, address: "192.0.2.9" })).status).toBe(429)
    await Bun.sleep(600)
    expect(
      await reader.read().then(
        () => "read",
        (error: Error) => error.message,
      ),
    ).toBe("the export broke off")
    expect((await opened(token, counting(), { files, address: "192.0.2.9" })).status).toBe(200)
    expect(logged.filter((line) => line.includes("accepted no data"))).toHaveLength(4)
  })
})

describe("over a connection", () => {
  const servers: Bun.Server<undefined>[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop(true)
  })

  /** Serves the app on a port, and counts the parts it reads. */
  function serving() {
    const read = { parts: 0 }
    const counted = new Proxy(sql, {
      apply(target, self, args) {
        if (args[0]?.raw?.join("").includes("from export_part")) read.parts++
        return Reflect.apply(target, self, args)
      },
    })
    const { app } = openService({ sql: counted })
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      development: false,
      fetch: (request) => app.fetch(request, "127.0.0.1"),
    })
    servers.push(server)
    return { read, port: server.port as number, url: `http://127.0.0.1:${server.port}` }
  }

  slow(
    "a download stops reading parts when its client stalls or disconnects, and holds no transaction open",
    async () => {
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
    },
  )

  slow("a client sees an aborted download as an error, and the server keeps running", async () => {
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

/** Waits until a count stops changing. */
async function settled(count: () => number): Promise<void> {
  for (let before = -1; before !== count(); ) {
    before = count()
    await Bun.sleep(250)
  }
}

/** On the embedded database an open transaction would block this query, since there is only one backend. */
async function openTransactions(): Promise<number> {
  const [row] = await sql<{ open: number }[]>`
    select count(*) as open
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and (xact_start is not null or state like 'idle in%')
      and backend_type = 'client backend'`
  return row!.open
}
