import process from "node:process"
import { commitOf, readTree, versionOf } from "../database/assets.ts"
import type { Command } from "./cli/command.ts"
import { show } from "./cli/show.ts"

export const version: Command = {
  name: "version",
  summary: "Print the version, commit, runtime and schema number of this program.",
  examples: [
    ["version", "what to include in a bug report"],
    ["version --json", "the same for scripts"],
  ],
  async run(invocation) {
    const build = { version: versionOf(), commit: commitOf(), runtime: runtimeOf(), schema: schemaOf() }
    show(invocation, build, () => [
      `appmeter ${build.version}`,
      `commit   ${build.commit ?? "unknown"}`,
      `runtime  ${build.runtime}`,
      `schema   ${build.schema}`,
    ])
    return 0
  },
}

function runtimeOf(): string {
  const { bun, deno } = process.versions
  return bun ? `Bun ${bun}` : `Deno ${deno}`
}

/** Returns the number of the newest migration that the program contains; a database may still be older. */
function schemaOf(): number {
  const numbers = [...readTree("sql", ".sql").keys()].map((name) => Number(/^(\d{4})_/.exec(name)?.[1] ?? 0))
  return Math.max(...numbers)
}
