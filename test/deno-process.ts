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

/** The program under Deno, with no more rights than it needs: the environment, its own files, and the network it is told. */
export function underDeno(hosts: readonly string[], env: Record<string, string>): ChildOptions {
  const files = ["package.json", "fixtures", "sql", "src"].map((name) => join(root, name))
  cache ??= scratch()
  return {
    // nothing is asked, and no lock file is left in the project
    program: [
      denoBinary(), "run", "--no-prompt", "--no-lock", "--allow-env", `--allow-read=${files}`, `--allow-net=${hosts}`,
      join(root, "src/deno.ts"),
    ], // biome-ignore format: one command line
    env: { DENO_DIR: cache, NO_COLOR: "1", ...env },
  }
}

/** What it compiled, shared by the processes of a test run. */
let cache: string | undefined
