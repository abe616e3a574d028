import { existsSync } from "node:fs"
import { readText } from "../../database/assets.ts"
import { readAtOneMoment } from "../../database/contents.ts"
import { readLandedSteps } from "../../database/migrate.ts"
import { tablesMadeBy } from "../../database/tables.ts"
import { type Command, CommandProblem, firstArgument } from "../cli/command.ts"
import { show } from "../cli/show.ts"
import { assertMade, showProgress } from "../cli/whole-database.ts"
import { schemaFiles, useDatabase } from "../cli/with-database.ts"
import { writeBackup } from "./backup-file.ts"

export const backup: Command = {
  name: "backup",
  summary: "Write a consistent backup to one file.",
  details: "Restores into the embedded database or PostgreSQL.",
  examples: [
    ["backup appmeter.backup", "also while a server runs; an embedded database answers no other request meanwhile"],
    ["backup appmeter.backup --force", "replace an existing file once the new one is complete"],
  ],
  positionals: ["file"],
  options: { force: { meaning: "Replace an existing file." } },
  async run(invocation) {
    const { settings, terminal, has } = invocation
    const file = firstArgument(invocation)
    assertMade(settings)
    if (existsSync(file) && !has("force"))
      throw new CommandProblem(`${file} exists already; choose another name, or add --force to replace it`)
    const written = await useDatabase(invocation, async (sql) => {
      const origin = { version: version(), at: new Date().toISOString(), migrations: await readLandedSteps(sql) }
      return await readAtOneMoment(sql, tablesMadeBy(schemaFiles()), (contents) =>
        writeBackup(file, origin, contents, showProgress(terminal)),
      )
    })
    terminal.progress("")
    const rows = written.tables.reduce((sum, table) => sum + table.rows, 0)
    show(invocation, { file, rows, ...written }, () => [`${file}: ${rows} rows, ${written.bytes} bytes`])
    if (!has("json")) terminal.say(`The file contains hashes of keys. Verify it with: appmeter restore ${file} --check`)
    return 0
  },
}

function version(): string {
  return (JSON.parse(readText("package.json")) as { version: string }).version
}
