import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import process from "node:process"

/** Returns every file below `dir` of the project's root whose name ends in `ext`, by path, sorted. */
export function readTree(dir: string, ext: string): Map<string, string> {
  const files = new Map<string, string>()
  collect(pathOf(dir), "", ext, files)
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function readText(name: string): string {
  return readFileSync(pathOf(name), "utf8")
}

/**
 * Returns the prefix of a command line of this program: the binary's name, or in a checkout the runtime and its entry
 * file.
 */
export function typedAs(): string {
  if (isCompiled()) return "appmeter"
  if (process.versions.deno) return `deno run ${DENO_RIGHTS} src/deno.ts`
  // a machine on which npx provides Bun has no command `bun`
  return `${/[\\/]_npx[\\/]/.test(process.execPath) ? `npx -y ${bunPackage()}` : "bun"} src/main.ts`
}

/** The file in a compiled program with the licences of everything that the program contains. */
export const NOTICES_FILE = "NOTICES"

/** Returns a file that only a compiled program contains. Null in a checkout. */
export function readCompiled(name: string): string | null {
  return isCompiled() && existsSync(pathOf(name)) ? readText(name) : null
}

/** Deno's flags for serving and for commands that use only the database. */
const DENO_RIGHTS = "--no-lock --allow-env --allow-net --allow-read"

/** The file in a compiled program with the commit from which the program was built. */
export const COMMIT_FILE = "commit"

/**
 * Returns the commit of the program, with "-dirty" if files were changed since the commit. Null if unknown, for example
 * without git.
 */
export function commitOf(): string | null {
  if (isCompiled()) return readCompiled(COMMIT_FILE)
  const root = pathOf(".")
  const place = [`--git-dir=${join(root, ".git")}`, `--work-tree=${root}`]
  try {
    const describe = [...place, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    return execFileSync("git", describe, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim() || null
  } catch {
    return null
  }
}

/**
 * Returns the command that starts this program from any folder: the binary, or in a checkout Bun with its entry file.
 */
export function programPath(): { command: string; args: string[] } {
  if (isCompiled()) return { command: process.execPath, args: [] }
  return { command: "npx", args: ["-y", bunPackage(), pathOf("src/main.ts")] }
}

/** Returns Bun's package with the version that package.json asks for. */
function bunPackage(): string {
  const { engines } = JSON.parse(readText("package.json")) as { engines: { bun: string } }
  return `bun@${engines.bun.replace(/^\D+/, "")}`
}

/** Returns the command that starts this program with the runtime that is running it. */
export function runningProgram(): { command: string; args: string[] } {
  const { execPath: command, versions } = process
  if (isCompiled()) return { command, args: [] }
  return { command, args: "deno" in versions ? ["run", "-A", pathOf("src/deno.ts")] : [pathOf("src/main.ts")] }
}

// A compiled program has all modules in one virtual folder. The embedded folders are next to the modules, under their
// base names.
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

/** Returns the program's version from package.json. */
export function versionOf(): string {
  return (JSON.parse(readText("package.json")) as { version: string }).version
}
