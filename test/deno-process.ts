import { join } from "node:path"
import { type ChildOptions, scratch } from "./commands/child.ts"

const root = join(import.meta.dirname, "..")

/**
 * Path of Deno 2.9.6, from the environment. `.ci/long` installs it; by hand use `DENO=$(npx -y deno@2.9.6 eval
 * "console.log(Deno.execPath())")`. Tests that need Deno are skipped without it.
 */
const DENO = process.env.DENO

/** Skips a test or `describe` that needs Deno. */
export const noDeno = DENO === undefined
if (noDeno) process.stderr.write("DENO is not set: no test runs under Deno\n")

export function denoBinary(): string {
  if (!DENO) throw new Error("needs DENO")
  return DENO
}

const entry = join(root, "src/deno.ts")

/**
 * Returns the options that run the program under Deno with minimal rights: the environment, its own files, and the
 * given hosts.
 */
export function underDeno(hosts: readonly string[], env: Record<string, string>): ChildOptions {
  return { program: [denoBinary(), "run", ...rights(hosts), entry], env: { ...ownEnv(), ...env } }
}

/**
 * Returns the same options for `deno serve`, which opens the port itself and needs no right for it. Deno 2.9.6 looks
 * for packages next to the working directory, not next to the program.
 */
export function servedByDeno(
  hosts: readonly string[],
  { PORT = "0", ...env }: Record<string, string>,
  flags: string[] = [],
): ChildOptions {
  const address = ["--host", "127.0.0.1", "--port", PORT]
  const program = [denoBinary(), "serve", ...rights(hosts), ...address, ...flags, entry]
  return { program, wordless: true, cwd: root, env: { ...ownEnv(), ...env } }
}

function rights(hosts: readonly string[]): string[] {
  const files = ["package.json", "fixtures", "sql", "src"].map((name) => join(root, name))
  const net = hosts.length > 0 ? [`--allow-net=${hosts}`] : []
  // no prompts, and no lock file in the project
  return ["--no-prompt", "--no-lock", "--allow-env", `--allow-read=${files}`, ...net]
}

function ownEnv(): Record<string, string> {
  cache ??= scratch()
  return { DENO_DIR: cache, NO_COLOR: "1" }
}

/** Compiled code, shared by the processes of a test run. */
let cache: string | undefined
