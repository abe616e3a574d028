import { existsSync } from "node:fs"
import process from "node:process"
import { versionOf } from "../../database/assets.ts"
import { type Contents, readAtOneMoment } from "../../database/contents.ts"
import { readLandedSteps } from "../../database/migrate.ts"
import { tablesMadeBy } from "../../database/tables.ts"
import type { Sql } from "../../database/types.ts"
import { type Command, CommandProblem, firstArgument, WrongUse } from "../cli/command.ts"
import { show } from "../cli/show.ts"
import { assertMade, showProgress } from "../cli/whole-database.ts"
import { schemaFiles, useDatabase } from "../cli/with-database.ts"
import { type Origin, streamBackup, type Written, writeBackup } from "./backup-file.ts"

export const backup: Command = {
  name: "backup",
  summary: "Write a consistent backup to one file.",
  details: "Restores into the embedded database or PostgreSQL.",
  examples: [
    ["backup appmeter.backup", "also while a server runs; an embedded database answers no other request meanwhile"],
    ["backup appmeter.backup --force", "replace an existing file once the new one is complete"],
    ["backup - | ssh backups.example.com 'cat > appmeter.backup'", "to stdout, for another program"],
  ],
  positionals: ["file"],
  options: { force: { meaning: "Replace an existing file." } },
  async run(invocation) {
    const { settings, terminal, has } = invocation
    const file = firstArgument(invocation)
    const toStdout = file === "-"
    if (toStdout) assertPiped(has("json"))
    assertMade(settings)
    if (!toStdout && existsSync(file) && !has("force"))
      throw new CommandProblem(`${file} exists already; choose another name, or add --force to replace it`)
    const onProgress = showProgress(terminal)
    const written = await useDatabase(invocation, (sql) =>
      takeBackup(sql, (origin, contents) =>
        toStdout
          ? streamBackup(process.stdout, origin, contents, onProgress)
          : writeBackup(file, origin, contents, onProgress),
      ),
    )
    terminal.progress("")
    const rows = written.tables.reduce((sum, table) => sum + table.rows, 0)
    if (toStdout) {
      terminal.say(`${rows} rows, ${written.bytes} bytes`)
      return 0
    }
    show(invocation, { file, rows, ...written }, () => [`${file}: ${rows} rows, ${written.bytes} bytes`])
    if (!has("json")) terminal.say(`The file contains hashes of keys. Verify it with: appmeter restore ${file} --check`)
    return 0
  },
}

/** Reads the whole database at one moment and passes it to `write`. */
export async function takeBackup(
  sql: Sql,
  write: (origin: Origin, contents: Contents) => Promise<Written>,
): Promise<Written> {
  const origin = { version: versionOf(), at: new Date().toISOString(), migrations: await readLandedSteps(sql) }
  return await readAtOneMoment(sql, tablesMadeBy(schemaFiles()), (contents) => write(origin, contents))
}

function assertPiped(isJson: boolean): void {
  if (isJson) throw new WrongUse("--json cannot be used with -, because the backup itself goes to stdout")
  if (process.stdout.isTTY) throw new CommandProblem("stdout is a terminal; redirect it: appmeter backup - > FILE")
}
