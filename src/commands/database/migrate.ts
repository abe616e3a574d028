import { versionOf } from "../../database/assets.ts"
import { openDatabase } from "../../database/connect.ts"
import { findMismatch, migrate, missingSteps, readLandedSteps } from "../../database/migrate.ts"
import { createLog } from "../../lib/log.ts"
import type { Command, ExitCode, Invocation } from "../cli/command.ts"
import { show } from "../cli/show.ts"
import { assertMade } from "../cli/whole-database.ts"
import { schemaFiles } from "../cli/with-database.ts"

export const migrateCommand: Command = {
  name: "migrate",
  summary: "Migrate the database to the schema of this version.",
  details: "A server does this itself when it starts.",
  examples: [
    ["migrate", "apply the missing migrations"],
    ["migrate --check", "run the new version's check before an upgrade; changes nothing"],
  ],
  options: {
    check: { meaning: "Only report whether this version can use the data and which migrations it would apply." },
  },
  run: (invocation) => (invocation.has("check") ? check(invocation) : apply(invocation)),
}

/** Reports whether this version can use the database. Returns exit code 1 if it must not be started on this data. */
async function check(invocation: Invocation): Promise<ExitCode> {
  const { settings, terminal } = invocation
  assertMade(settings)
  const { databaseUrl, dataDir } = settings
  const log = createLog(terminal.err, "warn")
  const database = await openDatabase({ databaseUrl, dataDir, as: "command", log, maxConnections: 2 })
  try {
    const landed = await readLandedSteps(database.sql)
    const mismatch = findMismatch(landed, schemaFiles())
    const missing = mismatch ? [] : missingSteps(landed, schemaFiles())
    const report = { version: versionOf(), readable: !mismatch, missing, reason: mismatch?.reason ?? null }
    show(invocation, report, () =>
      mismatch
        ? [`the database ${mismatch.reason}`, "do not start this version with this data"]
        : [
            `version ${versionOf()} can use this data: ${saidOf(missing)}`,
            ...missing.map((name) => `  pending: ${name}`),
          ],
    )
    return mismatch ? 1 : 0
  } finally {
    await database.close()
  }
}

const saidOf = (missing: readonly string[]) =>
  missing.length === 0
    ? "it is up to date"
    : `${missing.length === 1 ? "1 step" : `${missing.length} steps`} at its first start`

async function apply(invocation: Invocation): Promise<0> {
  const { databaseUrl, dataDir, logLevel } = invocation.settings
  const log = createLog(invocation.terminal.err, logLevel === "debug" ? "debug" : "warn")
  const database = await openDatabase({ databaseUrl, dataDir, as: "command", log, maxConnections: 2 })
  try {
    const applied = await migrate(database.sql, schemaFiles(), log)
    show(invocation, { applied }, () => (applied.length > 0 ? applied : ["nothing to do"]))
    return 0
  } finally {
    await database.close()
  }
}
