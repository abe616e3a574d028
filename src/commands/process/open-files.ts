import { readdirSync, readFileSync } from "node:fs"
import type { Log } from "../../lib/log.ts"
import { type Settings, SettingsProblems } from "../../settings/settings.ts"

/**
 * Minimum limits of open files, below which statements may fail. After a start, about 270 files are open with the
 * embedded database and about 60 with a server database.
 */
const NEEDED = { embedded: 1_024, server: 256 }

/** Throws SettingsProblems if the limit of open files is too low. */
export function assertOpenFiles({ databaseUrl }: Pick<Settings, "databaseUrl">, limit = readOpenFilesLimit()): void {
  const needed = databaseUrl === undefined ? NEEDED.embedded : NEEDED.server
  if (limit === null || limit >= needed) return
  const fix = `${needed} are needed, 65536 are better: ulimit -n 65536, or LimitNOFILE=65536 of the systemd unit`
  throw new SettingsProblems([{ variable: "the limit of open files", value: `is ${limit}`, fix }])
}

/** Returns the limit, which the runtime has already raised to the maximum. Null if it cannot be read. */
export function readOpenFilesLimit(): number | null {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? []
    return limit === undefined ? null : Number(limit)
  } catch {
    return null // not Linux, or not permitted to read it
  }
}

const NEAR_LIMIT = 0.95
const LOOK_MS = 10_000

/**
 * Returns the number of open files. Null if they cannot be counted. At the limit, the folder that lists them cannot be
 * opened either.
 */
function countOpenFiles(limit: number): number | null {
  try {
    return readdirSync("/proc/self/fd").length
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EMFILE" ? limit : null
  }
}

/**
 * Logs once when open files reach 95 % of the limit, because beyond the limit new connections hang silently, and once
 * when they drop below 95 % again. Returns a function that stops watching.
 */
export function watchOpenFiles(
  log: Log,
  { limit = readOpenFilesLimit(), count = countOpenFiles, everyMs = LOOK_MS } = {},
): () => void {
  if (limit === null) return () => {}
  let isNear = false
  const look = () => {
    const open = count(limit)
    if (open === null || open >= limit * NEAR_LIMIT === isNear) return
    isNear = !isNear
    const reason = `${open} of ${limit} files and connections are open`
    if (isNear) log("warn", "open_files_near_limit", { reason: `${reason}; ${FIX}` })
    else log("info", "open_files_recovered", { reason })
  }
  const timer = setInterval(look, everyMs)
  timer.unref?.()
  return () => clearInterval(timer)
}

const FIX =
  "new connections hang beyond the limit: raise ulimit -n or LimitNOFILE of the systemd unit, " +
  "or limit connections at the proxy"
