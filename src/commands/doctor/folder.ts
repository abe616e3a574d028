import { readdirSync, type Stats, statfsSync, statSync } from "node:fs"
import { join } from "node:path"
import type { Invocation } from "../command.ts"
import { isMade } from "../whole-database.ts"
import { type Finding, ok, problem, warning } from "./finding.ts"

/** The folder of the embedded database: who may read it, how large it is, what is left on the disk. */
export function checkFolder({ settings: { dataDir, databaseUrl } }: Pick<Invocation, "settings">): Finding[] {
  if (databaseUrl) return []
  const folder = statOf(dataDir)
  if (!folder) return [ok("DATA_DIR", `${dataDir} is not there yet; the first start makes it`)]
  if (!folder.isDirectory()) return [problem("DATA_DIR", `${dataDir} is no folder`, "set DATA_DIR to a folder")]
  const bytes = sizeOf(dataDir)
  return [permissions(dataDir, folder), size(bytes), space(freeAt(dataDir), bytes)]
}

// A judgement: one backend serves all, and 5 GB was the largest directory tried.
const MOVE_AT = 10 * 2 ** 30

export function size(bytes: number): Finding {
  const says = `${inUnits(bytes)} of embedded database`
  if (bytes < MOVE_AT) return ok("size", says)
  return warning("size", `${says}, more than it is good for`, "run: appmeter move-database --to URL")
}

// Four times the log that a checkpoint may leave. PostgreSQL stops when it cannot write its log.
const LEAST_FREE = 2 ** 30

export function space(free: number, used: number): Finding {
  const says = `${inUnits(free)} free where DATA_DIR is`
  const fix = "make room on the disk, or set DATA_DIR to a folder on a larger one"
  if (free < LEAST_FREE) return problem("disk", `${says}, less than ${inUnits(LEAST_FREE)}`, fix)
  if (free < used) return warning("disk", `${says}, less than the database takes`, fix)
  return ok("disk", says)
}

function permissions(dataDir: string, folder: Stats): Finding {
  const thing = "DATA_DIR"
  const mend = `run: chmod 700 ${JSON.stringify(dataDir)}`
  const data = isMade(dataDir) ? statOf(join(dataDir, "postgres")) : undefined
  const own = process.getuid?.()
  if (own !== undefined && own !== 0 && folder.uid !== own)
    return problem(thing, `${dataDir} belongs to another user`, `run: chown -R ${own} ${JSON.stringify(dataDir)}`)
  // Windows has no such bits
  if (process.platform === "win32" || (folder.mode & 0o077) === 0) return ok(thing, `${dataDir}, for its user only`)
  const open = `others of this machine may look into ${dataDir} (${(folder.mode & 0o777).toString(8)})`
  if (data && (data.mode & 0o077) !== 0) return problem(thing, `${open}, and into the database in it`, mend)
  return warning(thing, open, mend)
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}

function freeAt(path: string): number {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}

/** Files come and go while a server works. */
function sizeOf(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += statOf(join(entry.parentPath, entry.name))?.size ?? 0
  }
  return bytes
}

function inUnits(bytes: number): string {
  return bytes >= 2 ** 30 ? `${(bytes / 2 ** 30).toFixed(1)} GB` : `${Math.ceil(bytes / 2 ** 20)} MB`
}
