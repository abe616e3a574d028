import { readFileSync } from "node:fs"
import { type Settings, SettingsProblems } from "../settings/settings.ts"

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
