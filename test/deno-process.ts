import { join } from "node:path"
import { type ChildOptions, scratch } from "./commands/child.ts"

const root = join(import.meta.dirname, "..")

/**
 * Deno 2.9.6, where the environment says it lies. `.ci/long` installs it, as one does by hand with
 * `DENO=$(npx -y deno@2.9.6 eval "console.log(Deno.execPath())")`; without it the tests that need it are skipped.
 */
const DENO = process.env.DENO

/** What a test or `describe` that needs Deno is skipped by. */
export const noDeno = DENO === undefined
if (noDeno) process.stderr.write("DENO is not set: no test runs under Deno\n")

export function denoBinary(): string {
  if (!DENO) throw new Error("needs DENO")
  return DENO
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
