import { databaseAheadMs } from "../../database/clock.ts"
import { openDatabase } from "../../database/connect.ts"
import { createGate, DatabaseUnavailable } from "../../database/gate.ts"
import type { Database } from "../../database/types.ts"
import { redact, silentLog } from "../../log.ts"
import type { Invocation } from "../command.ts"
import { isMade, landedMigrations, placeOf } from "../whole-database.ts"
import { migrations } from "../with-database.ts"
import { type Finding, ok, problem, warning } from "./finding.ts"

/** Whether the database is there, has the schema of this program, and keeps the same time. Migrates and makes nothing. */
export async function checkDatabase({ settings }: Pick<Invocation, "settings">): Promise<Finding[]> {
  const { databaseUrl, dataDir } = settings
  if (!databaseUrl && !isMade(dataDir)) return [ok("database", "embedded, not made yet; the first start makes it")]
  let database: Database | undefined
  try {
    const opened = await openDatabase({ databaseUrl, dataDir, as: "command", log: silentLog, maxConnections: 1 })
    database = opened
    return await createGate({ deadlineMs: PATIENCE_MS }).run(() => look(opened, placeOf(opened, settings)))
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (!databaseUrl && (error instanceof DatabaseUnavailable || code === "55P03"))
      return [warning("database", "busy: a backup or another long command holds it", "wait for it to end")]
    const fix = databaseUrl ? "start it, or correct DATABASE_URL" : "free or correct DATA_DIR"
    return [problem("database", redact((error as Error).message).split("\n")[0]!, fix)]
  } finally {
    await database?.close()
  }
}

// A server that restores or backs up answers nobody else meanwhile.
const PATIENCE_MS = 10_000

/** `skewMs` is how far the database's clock is ahead of this process'. */
export function clock(skewMs: number): Finding {
  const seconds = (Math.abs(skewMs) / 1_000).toFixed(1)
  const way = skewMs > 0 ? "ahead of" : "behind"
  if (Math.abs(skewMs) <= SKEW_MS) return ok("clock", "the same here and at the database")
  const fix = "let both machines take their time from the network (chrony, systemd-timesyncd)"
  return warning("clock", `the database is ${seconds} s ${way} this machine`, fix)
}

const SKEW_MS = 2_000

async function look(database: Database, place: string): Promise<Finding[]> {
  const { sql } = database
  const held = database.kind === "embedded" && !("backend" in database) ? ", held by a server" : ""
  const [row] = await sql<{ version: string }[]>`select current_setting('server_version') as version`
  const version = /^[\d.]+/.exec(row!.version)?.[0]
  return [
    ok("database", `PostgreSQL ${version}, ${place}${held}`),
    await schema(database, held !== ""),
    clock(await databaseAheadMs(sql)),
  ]
}

async function schema({ sql, kind }: Database, held: boolean): Promise<Finding> {
  const ours = [...migrations().keys()].filter((name) => /^\d{4}_/.test(name))
  const landed = (await landedMigrations(sql)).map(({ name }) => name)
  const newer = landed.find((name) => !ours.includes(name))
  if (newer) return problem("schema", `newer than this program: it has migration ${newer}`, "use a newer version")
  const missing = ours.filter((name) => !landed.includes(name))
  if (missing.length === 0) return ok("schema", `up to date, ${ours.length} migrations`)
  const fix = held && kind === "embedded" ? "restart its server with this version" : "run: appmeter migrate"
  return problem("schema", `lacks ${missing.length} of ${ours.length} migrations, ${missing[0]} first`, fix)
}
