// A separate process that has a data directory open as a server, or uses it as a command: bun holder.ts server|command
// DIRECTORY [write|idle]
import { openDatabase } from "../../src/database/connect.ts"
import { silentLog } from "../../src/lib/log.ts"

const [as, dataDir, mode] = process.argv.slice(2) as ["server" | "command", string, string | undefined]
const print = (line: string) => process.stdout.write(`${line}\n`)

try {
  const database = await openDatabase({ as, dataDir, log: silentLog })
  const { sql } = database
  process.on("SIGTERM", async () => {
    await database.close()
    print("closed")
    process.exit(0)
  })
  print("open")
  await sql`
    create table if not exists written (id int primary key generated always as identity, batch bigint, pad text)`
  if (mode === "write") await write()
  else if (mode === "idle") setInterval(() => {}, 1_000)
  else await database.close()

  // Prints a number only after the database has acknowledged the write: of single rows, and of transactions of five
  // rows.
  async function write() {
    for (;;) {
      const [row] = await sql<{ id: number }[]>`insert into written (batch) values (0) returning id`
      print(`row ${row!.id}`)
      const batch = row!.id
      await sql.begin(async (tx) => {
        for (let i = 0; i < 5; i++) await tx`insert into written (batch, pad) values (${batch}, repeat('x', 500))`
      })
      print(`batch ${batch}`)
    }
  }
} catch (error) {
  print(`${(error as Error).name}: ${(error as Error).message}`)
  process.exit(1)
}
