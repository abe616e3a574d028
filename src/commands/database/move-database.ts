import { openDatabase } from "../../database/connect.ts"
import { readAtOneMoment, type TableSum } from "../../database/contents.ts"
import { copyInto, countRows, inWords } from "../../database/copy.ts"
import { migrate } from "../../database/migrate.ts"
import { DatabaseProblem } from "../../database/problem.ts"
import { setSteadyText, sumTable } from "../../database/rows.ts"
import { describeTables, tablesMadeBy } from "../../database/tables.ts"
import type { Database, Sql } from "../../database/types.ts"
import { vacuumChanged } from "../../database/upkeep.ts"
import { createLog, type Log } from "../../lib/log.ts"
import { type Command, CommandProblem, type Invocation, WrongUse } from "../cli/command.ts"
import { warnOfSecret } from "../cli/read-secret.ts"
import { show, table } from "../cli/show.ts"
import { assertMade, assertOurs, assertUnserved, placeOf, showProgress } from "../cli/whole-database.ts"
import { schemaFiles, useDatabase } from "../cli/with-database.ts"

export const moveDatabase: Command = {
  name: "move-database",
  summary: "Copy all data to an empty PostgreSQL 15 or newer and verify the copy.",
  details: "Stop the server first.",
  examples: [
    ["move-database --to - < url.txt", "read the address from stdin, so that its password is not in the process list"],
    [
      "move-database --to postgres://db.example.com/appmeter",
      "an address without a password; can be repeated after a failure",
    ],
  ],
  options: { to: { value: "URL", meaning: "Address of the empty database, or - to read it from stdin." } },
  async run(invocation) {
    const { settings, terminal } = invocation
    const url = await addressOf(invocation)
    assertMade(settings)
    const moved = await useDatabase(invocation, async (_, source) => {
      const from = placeOf(source, settings)
      await assertUnserved(source, from, "data that it writes during the copy would be lost")
      return await withTarget(invocation, url, async (target, log) => {
        const to = placeOf(target, settings)
        return { from, to, ...(await move(invocation, source, target, to, log)) }
      })
    })
    terminal.progress("")
    const next = "start the server with DATABASE_URL set to the new address. The old database is unchanged"
    show(invocation, { ...moved, next }, () =>
      table(
        ["TABLE", "ROWS"],
        moved.tables.map(({ name, rows }) => [name, rows]),
      ),
    )
    const done = moved.already
      ? "was copied earlier and is identical in"
      : "was copied, with verified rows and checksums, to"
    if (!invocation.has("json")) terminal.say(`${moved.from} ${done} ${moved.to}. Next: ${next}.`)
    return 0
  },
}

interface MoveResult {
  /** True if an earlier run had moved everything and nothing was written since. */
  already: boolean
  tables: TableSum[]
}

async function addressOf(invocation: Invocation): Promise<string> {
  const { text, terminal } = invocation
  const typed = text("to")
  if (typed === undefined) throw new WrongUse("--to is missing; run: appmeter move-database --to URL")
  if (typed !== "-") {
    if (PASSWORD.test(typed))
      warnOfSecret(invocation, "the address in --to has a password", "appmeter move-database --to - < url.txt")
    return typed
  }
  const parts: Uint8Array[] = []
  for await (const part of terminal.stdin()) parts.push(part)
  return Buffer.concat(parts).toString("utf8").trim()
}

/**
 * Matches a password in the user part or in a parameter. An address with several hosts, separated by commas, is not a
 * valid URL, so it is not parsed.
 */
const PASSWORD = /^postgres(ql)?:\/\/([^/?#]*:[^/?#]+@|.*[?&]password=)/i

async function withTarget<T>(
  { settings, terminal }: Invocation,
  databaseUrl: string,
  work: (target: Database, log: Log) => Promise<T>,
): Promise<T> {
  const log = createLog(terminal.err, settings.logLevel === "debug" ? "debug" : "warn")
  const target = await openTarget(databaseUrl, log)
  try {
    return await work(target, log)
  } finally {
    await target.close()
  }
}

async function openTarget(databaseUrl: string, log: Log): Promise<Database> {
  try {
    // an empty address would mean the embedded database
    if (databaseUrl === "") throw new DatabaseProblem("DATABASE_URL is empty")
    return await openDatabase({ databaseUrl, dataDir: "", as: "command", log, maxConnections: 2 })
  } catch (error) {
    if (!(error instanceof DatabaseProblem)) throw error
    throw new CommandProblem(error.message.replaceAll("DATABASE_URL", "--to"))
  }
}

async function move(
  { terminal }: Invocation,
  source: Database,
  target: Database,
  to: string,
  log: Log,
): Promise<MoveResult> {
  const names = tablesMadeBy(schemaFiles())
  await assertOurs(target.sql, to)
  await migrate(target.sql, schemaFiles(), log)
  const existing = await countRows(target.sql, names)
  if (existing.length > 0) {
    const tables = await sumTables(source.sql, names)
    if (JSON.stringify(tables) === JSON.stringify(await sumTables(target.sql, names))) return { already: true, tables }
    throw new CommandProblem(`${to} contains data (${inWords(existing)}); use an empty database. Nothing was written`)
  }
  const onProgress = showProgress(terminal)
  const tables = await readAtOneMoment(source.sql, names, (contents) => copyInto(target, contents, { onProgress }))
  // the new database has no statistics yet
  await vacuumChanged(target.sql)
  return { already: false, tables }
}

async function sumTables(sql: Sql, names: readonly string[]): Promise<TableSum[]> {
  return (await sql.begin("isolation level repeatable read read only", async (tx) => {
    await setSteadyText(tx)
    const found: TableSum[] = []
    for (const table of await describeTables(tx, names)) {
      found.push({ name: table.name, ...(await sumTable(tx, table)) })
    }
    return found
  })) as TableSum[]
}
