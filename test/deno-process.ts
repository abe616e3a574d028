import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { type ChildOptions, scratch } from "./commands/child.ts"

const root = join(import.meta.dirname, "..")

/** The binary itself: the one that the package's name starts is put there by a step after the install, which Bun leaves out. */
export function denoBinary(): string {
  const { platform, arch } = process
  const name = `@deno/${platform}-${arch}${platform === "linux" ? "-glibc" : ""}`
  const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
  return join(folder, platform === "win32" ? "deno.exe" : "deno")
}

const entry = join(root, "src/deno.ts")

/** The program under Deno, with no more rights than it needs: the environment, its own files, and the network it is told. */
export function underDeno(hosts: readonly string[], env: Record<string, string>): ChildOptions {
  return { program: [denoBinary(), "run", ...rights(hosts), entry], env: { ...ownEnv(), ...env } }
}

/**
 * The same served by `deno serve`, which opens the port itself and needs no right for that. It looks for packages beside
 * the folder it is started in, not beside the program (Deno 2.9.6).
 */
export function servedByDeno(
  hosts: readonly string[],
  { PORT = "0", ...env }: Record<string, string>,
  flags: string[] = [],
): ChildOptions {
  const where = ["--host", "127.0.0.1", "--port", PORT]
  const program = [denoBinary(), "serve", ...rights(hosts), ...where, ...flags, entry]
  return { program, wordless: true, cwd: root, env: { ...ownEnv(), ...env } }
}

function rights(hosts: readonly string[]): string[] {
  const files = ["package.json", "fixtures", "sql", "src"].map((name) => join(root, name))
  const net = hosts.length > 0 ? [`--allow-net=${hosts}`] : []
  // nothing is asked, and no lock file is left in the project
  return ["--no-prompt", "--no-lock", "--allow-env", `--allow-read=${files}`, ...net]
}

function ownEnv(): Record<string, string> {
  cache ??= scratch()
  return { DENO_DIR: cache, NO_COLOR: "1" }
}

/** What it compiled, shared by the processes of a test run. */
let cache: string | undefined
