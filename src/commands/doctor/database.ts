import { measureClockLead } from "../../database/clock.ts"
import { POOLER_PROBLEM } from "../../database/connect.ts"
import { createGate, DatabaseUnavailable } from "../../database/gate.ts"
import { findMismatch, missingSteps, readLandedSteps } from "../../database/migrate.ts"
import type { Database } from "../../database/types.ts"
import { redact } from "../../lib/log.ts"
import type { Settings } from "../../settings/settings.ts"
import type { Invocation } from "../cli/command.ts"
import { placeOf } from "../cli/whole-database.ts"
import { lackOf, schemaFiles } from "../cli/with-database.ts"
import type { DoctorDatabase } from "./doctor-database.ts"
import { type Finding, ok, problem, warning } from "./finding.ts"

/**
 * Checks whether the database is reachable, has this program's schema, and has a clock that agrees with this process.
 */
export async function checkDatabase(
  { settings }: Pick<Invocation, "settings">,
  reached: DoctorDatabase,
): Promise<Finding[]> {
  try {
    const database = await reached.database()
    if (!database) return [ok("database", "embedded, not created yet; the first start creates it")]
    return await createGate({ deadlineMs: DEADLINE_MS }).run(() => look(database, placeOf(database, settings)))
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (!settings.databaseUrl && (error instanceof DatabaseUnavailable || code === "55P03")) {
      const says = "busy: a backup or another long command is using it"
      return [warning("database", says, "wait until it ends, then run: appmeter doctor")]
    }
    const [says = ""] = redact((error as Error).message).split("\n")
    return [problem("database", says, settings.databaseUrl ? mendServer(error, settings) : mendFolder(says, settings))]
  }
}

// The limit is long because the server of an embedded database answers no other calls during a restore or a backup.
const DEADLINE_MS = 10_000

const ADDRESS = "DATABASE_URL=postgres://USER:PASSWORD@HOST:5432/NAME"

function mendServer(error: unknown, { databaseUrl = "" }: Settings): string {
  const { code } = ((error as Error).cause ?? error) as { code?: string }
  const { hostname, port, pathname } = URL.canParse(databaseUrl)
    ? new URL(databaseUrl)
    : { hostname: "HOST", port: "", pathname: "/NAME" }
  const at = `-h ${hostname} -p ${port || 5432}`
  switch (code) {
    case "28P01":
    case "28000":
      return `set ${ADDRESS} with a valid user and password`
    case "3D000":
      return `run: createdb ${at} ${redact(pathname.slice(1))}`
    case "53300":
      return `raise max_connections of the database, or lower DATABASE_CONNECTIONS of each process that uses it`
    case "08P01":
      return `set ${ADDRESS} without parameters at the end`
    case POOLER_PROBLEM:
      return `set ${ADDRESS}?prepare=false, or use the address of a session pooler or of the server itself`
    default:
      return `start it and check that it listens: pg_isready ${at}; if it is elsewhere, set ${ADDRESS}`
  }
}

function mendFolder(says: string, { dataDir }: Settings): string {
  const folder = JSON.stringify(dataDir)
  if (says.includes("in use by"))
    return `find the process that uses it: fuser -v ${JSON.stringify(`${dataDir}/server.lock`)}`
  const another = `set DATA_DIR to a folder other than ${folder}`
  return `follow that advice, or ${another}; the first start creates a new database there`
}

/** `skewMs` is positive if the database's clock is ahead of this process. */
export function clock(skewMs: number): Finding {
  const seconds = (Math.abs(skewMs) / 1_000).toFixed(1)
  const way = skewMs > 0 ? "ahead of" : "behind"
  if (Math.abs(skewMs) <= SKEW_MS) return ok("clock", "the same on this machine and at the database")
  const fix = "run on both machines: timedatectl set-ntp true"
  return warning("clock", `the database is ${seconds} s ${way} this machine`, fix)
}

const SKEW_MS = 2_000

async function look(database: Database, place: string): Promise<Finding[]> {
  const { sql } = database
  const isInUse = database.kind === "embedded" && !("backend" in database)
  const [row] = await sql<[{ version: string; limit: string; role: string }]>`
    select current_setting('server_version') as version, current_setting('statement_timeout') as limit,
      quote_ident(current_user) as role`
  const version = /^[\d.]+/.exec(row.version)?.[0]
  return [
    ok("database", `PostgreSQL ${version}, ${place}${isInUse ? ", in use by a server" : ""}${through(database)}`),
    ...(database.pooling === "transaction" && row.limit === "0" ? [unlimited(row.role)] : []),
    await checkSchema(database, isInUse),
    clock(await measureClockLead(sql)),
  ]
}

function through({ pooling }: Database): string {
  return pooling ? `, through a ${pooling} pooler` : ""
}

/**
 * Returns the warning for a role without time limits. Connections that keep their settings do not need these limits,
 * because Appmeter sets them itself.
 */
function unlimited(role: string): Finding {
  const alter = `alter role ${role} set`
  const fix = `run: ${alter} statement_timeout = '4s'; ${alter} idle_in_transaction_session_timeout = '10s'`
  return warning("pooler", "abandoned statements keep running in the database, because it sets no time limit", fix)
}

async function checkSchema({ sql, kind }: Database, isInUse: boolean): Promise<Finding> {
  const files = schemaFiles()
  const landed = await readLandedSteps(sql)
  const mismatch = findMismatch(landed, files)
  if (mismatch) return problem("schema", mismatch.reason, mismatch.remedy)
  const missing = missingSteps(landed, files)
  if (missing.length === 0) return ok("schema", `up to date, baseline and ${landed.length - 1} migrations`)
  const restart = "stop the server that uses it and start this version: appmeter serve"
  const fix = isInUse && kind === "embedded" ? restart : "run: appmeter migrate"
  return problem("schema", lackOf(missing), fix)
}
