import { accessSync, constants, readdirSync, type Stats, statfsSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import type { MeasuringSettings } from "../../settings/settings.ts"
import type { Invocation } from "../cli/command.ts"
import { isMade } from "../cli/whole-database.ts"
import { type Finding, ok, problem, warning } from "./finding.ts"

/** Checks the folders of the embedded database and of response bodies: owner, permissions, size and free space. */
export function checkFolder({ settings }: Pick<Invocation, "settings">): Finding[] {
  const { dataDir, databaseUrl, measuring } = settings
  const { raw } = measuring
  if (databaseUrl) return raw.days === 0 ? rawFolder(raw) : [...rawFolder(raw), rawSpace(raw)]
  const folder = statOf(dataDir)
  if (!folder) return [ok("DATA_DIR", `${dataDir} does not exist yet; the first start creates it`)]
  if (!folder.isDirectory()) {
    const fix = "set DATA_DIR to a folder or an unused path, for example DATA_DIR=.appmeter"
    return [problem("DATA_DIR", `${dataDir} is not a folder`, fix)]
  }
  const bytes = sizeOf(join(dataDir, "postgres"))
  const elsewhere = raw.days > 0 && deviceOf(raw.folder) !== folder.dev
  return [
    permissions(dataDir, folder),
    size(bytes),
    space(freeAt(dataDir), bytes, dataDir),
    ...rawFolder(raw),
    ...(elsewhere ? [rawSpace(raw)] : []),
  ]
}

// Size from which a move to PostgreSQL is advised. An estimate: one backend runs all statements, and the largest tested
// folder had 5 GB.
const MOVE_AT = 10 * 2 ** 30

export function size(bytes: number): Finding {
  const says = `the embedded database takes ${inUnits(bytes)}`
  if (bytes < MOVE_AT) return ok("size", says)
  return warning("size", `${says}, more than it is designed for`, "run: appmeter move-database --to URL")
}

// Four times the write-ahead log that a checkpoint may leave. PostgreSQL stops if it cannot write this log.
const MIN_FREE = 2 ** 30

export function space(free: number, used: number, dataDir = "DATA_DIR"): Finding {
  const says = `${inUnits(free)} free on the disk of DATA_DIR`
  const [from, to] = [JSON.stringify(dataDir), '"/LARGER/DISK"']
  const fix = `free some space there, or stop the server, run: mv ${from} ${to}, and start it with DATA_DIR=${to}`
  if (free < MIN_FREE) return problem("disk", `${says}, less than ${inUnits(MIN_FREE)}`, fix)
  if (free < used) return warning("disk", `${says}, less than the size of the database`, fix)
  return ok("disk", says)
}

type RawSettings = MeasuringSettings["raw"]

/** Measuring works without this folder, but readings cannot be replayed. */
function rawFolder({ folder, days }: RawSettings): Finding[] {
  const thing = "RAW_DIR"
  if (days === 0) return [ok(thing, "no responses are stored (RAW_DAYS=0)")]
  const stat = statOf(folder)
  const parent = existing(folder)
  const path = JSON.stringify(resolve(folder))
  if (!statOf(parent)?.isDirectory()) {
    const fix = "set RAW_DIR to a folder or an unused path, for example RAW_DIR=/var/lib/appmeter-raw"
    return [warning(thing, `${parent} is not a folder, so no responses are stored`, fix)]
  }
  if (!isWritable(parent)) {
    const fix = `run as root: mkdir -p ${path} && chown -R ${process.getuid?.() ?? "USER"} ${path}`
    return [warning(thing, `${parent} is not writable, so no responses are stored`, fix)]
  }
  if (!stat) return [ok(thing, `${folder} does not exist yet; the first reading creates it`)]
  return [ok(thing, `${inUnits(sizeOf(folder))} of stored responses in ${folder}, at most ${days} days old`)]
}

function rawSpace({ folder, megabytes }: RawSettings): Finding {
  const at = existing(folder)
  const used = statOf(folder)?.isDirectory() ? sizeOf(folder) : 0
  return freeSpace(freeAt(at), used, megabytes)
}

/** Compares free space with what bodies may still use. PostgreSQL is elsewhere, so a full disk stops no service. */
export function freeSpace(free: number, used: number, megabytes: number): Finding {
  const says = `${inUnits(free)} free on the disk of RAW_DIR`
  const more = megabytes * 1e6 - used
  if (free >= more) return ok("disk", says)
  const fits = Math.max(1, Math.floor((free + used) / 2 / 1e6))
  const fix = `set RAW_MB=${fits}, or RAW_DIR to a folder on a larger disk`
  return warning("disk", `${says}, but stored responses may take another ${inUnits(more)}`, fix)
}

function permissions(dataDir: string, folder: Stats): Finding {
  const thing = "DATA_DIR"
  const mend = `run: chmod 700 ${JSON.stringify(dataDir)}`
  const data = isMade(dataDir) ? statOf(join(dataDir, "postgres")) : undefined
  const uid = process.getuid?.()
  if (uid !== undefined && uid !== 0 && folder.uid !== uid)
    return problem(thing, `${dataDir} belongs to another user`, `run: chown -R ${uid} ${JSON.stringify(dataDir)}`)
  // Windows has no permission bits
  if (process.platform === "win32" || (folder.mode & 0o077) === 0)
    return ok(thing, `${dataDir}, accessible to its user only`)
  const open = `other users of this machine can read ${dataDir} (${(folder.mode & 0o777).toString(8)})`
  if (data && (data.mode & 0o077) !== 0) return problem(thing, `${open} and the database in it`, mend)
  return warning(thing, open, mend)
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // the path is below a file or not readable
  }
}

/** Returns the path, or its nearest existing parent. */
function existing(path: string): string {
  let at = resolve(path)
  while (!statOf(at) && dirname(at) !== at) at = dirname(at)
  return at
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

const deviceOf = (path: string) => statOf(existing(path))?.dev

function freeAt(path: string): number {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}

/** Skips files that a running server removes in the meantime. */
function sizeOf(folder: string): number {
  if (!statOf(folder)) return 0
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += statOf(join(entry.parentPath, entry.name))?.size ?? 0
  }
  return bytes
}

function inUnits(bytes: number): string {
  return bytes >= 2 ** 30 ? `${(bytes / 2 ** 30).toFixed(1)} GB` : `${Math.ceil(bytes / 2 ** 20)} MB`
}
