import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"

/**
 * The text of every file under `dir` (relative to the project's root) whose name ends in `ext`, by its path inside
 * `dir`, sorted by path. Throws when there is no such folder.
 */
export function readTree(dir: string, ext: string): Map<string, string> {
  const files = new Map<string, string>()
  collect(pathOf(dir), "", ext, files)
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The text of one file of the project's root, "package.json". */
export function readText(name: string): string {
  return readFileSync(pathOf(name), "utf8")
}

/** What to type before a command of this program: the binary's name, or in a checkout its entry. */
export function typedAs(): string {
  return isCompiled() ? "appmeter" : "bun src/main.ts"
}

// A compiled program has every module in one virtual folder, with the embedded folders beside it by their last names.
function pathOf(name: string): string {
  const here = import.meta.dirname
  if (!isCompiled()) return join(here, "..", "..", name)
  return existsSync(join(here, name)) ? join(here, name) : join(here, basename(name))
}

function isCompiled(): boolean {
  return existsSync(join(import.meta.dirname, "sql"))
}

function collect(folder: string, path: string, ext: string, files: Map<string, string>): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const inner = join(folder, entry.name)
    if (entry.isDirectory()) collect(inner, `${path}${entry.name}/`, ext, files)
    else if (entry.name.endsWith(ext)) files.set(path + entry.name, readFileSync(inner, "utf8"))
  }
}
