import process from "node:process"
import { commitOf, readTree, versionOf } from "../database/assets.ts"
import { stepsOf } from "../database/migrate.ts"
import type { Command } from "./cli/command.ts"
import { show } from "./cli/show.ts"

export const version: Command = {
  name: "version",
  summary: "Print the version, commit, runtime and schema of this program.",
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

/**
 * Returns the start of the baseline's hash and the newest migration of this program. The schema of a database may still
 * be older.
 */
function schemaOf(): string {
  const [baseline, ...migrations] = stepsOf(readTree("sql", ".sql"))
  return [baseline!.sha256.slice(0, 12), ...migrations.slice(-1).map(({ name }) => name)].join(" ")
}
