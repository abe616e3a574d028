import { readdirSync, readFileSync } from "node:fs"
import type { Log } from "../../lib/log.ts"
import { type Settings, SettingsProblems } from "../../settings/settings.ts"

/** About 270 are in use after a start with the embedded database, about 60 without. Below that statements fail. */
const NEEDED = { embedded: 1_024, server: 256 }

/** Throws SettingsProblems with the figure needed. */
export function assertOpenFiles({ databaseUrl }: Pick<Settings, "databaseUrl">, limit = readOpenFilesLimit()): void {
  const needed = databaseUrl === undefined ? NEEDED.embedded : NEEDED.server
  if (limit === null || limit >= needed) return
  const fix = `${needed} are needed, 65536 are better: ulimit -n 65536, or LimitNOFILE=65536 of the systemd unit`
  throw new SettingsProblems([{ variable: "the limit of open files", value: `is ${limit}`, fix }])
}

/** Null where it cannot be read. The runtime has raised it as far as it may by then. */
export function readOpenFilesLimit(): number | null {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? []
    return limit === undefined ? null : Number(limit)
  } catch {
    return null // no Linux, or a runtime that may not read there
  }
}

const NEAR_LIMIT = 0.95
const LOOK_MS = 10_000

/** Null where they cannot be counted. When none is left, not even the folder that lists them can be opened. */
function countOpenFiles(limit: number): number | null {
  try {
    return readdirSync("/proc/self/fd").length
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EMFILE" ? limit : null
  }
}

/**
 * Logs once when the open files come within 5 % of their limit, where new connections soon hang without a word, and once when
 * they are below it again. Returns what ends the watch.
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
    if (isNear) log("warn", "open_files_near_limit", { reason: `${reason}; ${CURE}` })
    else log("info", "open_files_in_order", { reason })
  }
  const timer = setInterval(look, everyMs)
  timer.unref?.()
  return () => clearInterval(timer)
}

const CURE =
  "new connections wait beyond it: raise ulimit -n, or LimitNOFILE of the systemd unit, or limit connections at the proxy"
