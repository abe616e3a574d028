import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { typedAs } from "../database/assets.ts"
import { assertHasBun, openDatabase } from "../database/connect.ts"
import { migrate } from "../database/migrate.ts"
import { describeSchema } from "../database/schema.ts"
import { createLog, silentLog } from "../log.ts"
import { type Command, CommandProblem, type Invocation } from "./command.ts"
import { show } from "./show.ts"
import { migrations } from "./with-database.ts"

export const migrateCommand: Command = {
  name: "migrate",
  summary: "Bring the database up to this version. A server does so itself when it starts.",
  examples: [
    ["migrate", "apply what is missing"],
    ["migrate --write-schema", "rewrite sql/schema.sql from the migrations; touches no database"],
  ],
  options: { "write-schema": { meaning: "Rewrite sql/schema.sql instead." } },
  async run(invocation) {
    return invocation.has("write-schema") ? await writeSchema(invocation) : await apply(invocation)
  },
}

async function apply(invocation: Invocation): Promise<0> {
  const { databaseUrl, dataDir, logLevel } = invocation.settings
  const log = createLog(invocation.terminal.err, logLevel === "debug" ? "debug" : "warn")
  const database = await openDatabase({ databaseUrl, dataDir, as: "command", log, maxConnections: 2 })
  try {
    const applied = await migrate(database.sql, migrations(), log)
    show(invocation, { applied }, () => (applied.length > 0 ? applied : ["nothing to do"]))
    return 0
  } finally {
    await database.close()
  }
}

/** From an empty database in memory, so that nothing but the migrations counts. */
async function writeSchema(invocation: Invocation): Promise<0> {
  if (typedAs() === "appmeter") throw new CommandProblem("sql/schema.sql is written in a checkout only")
  assertHasBun()
  const { openEmbedded } = await import("../database/embedded/open.ts")
  const database = await openEmbedded({ as: "command", log: silentLog })
  try {
    await migrate(database.sql, migrations(), silentLog)
    const text = await describeSchema(database.sql)
    writeFileSync(join(import.meta.dirname, "../../sql/schema.sql"), text)
    show(invocation, { written: "sql/schema.sql", bytes: text.length }, () => ["wrote sql/schema.sql"])
    return 0
  } finally {
    await database.close()
  }
}
