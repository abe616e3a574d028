import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseProblem } from "./problem.ts"

export const EMBEDDED_MAJOR = 18

/**
 * Throws DatabaseProblem for files of another major version of PostgreSQL, which cannot be read. A directory that does
 * not exist yet passes.
 */
export function assertDataVersion(directory: string): void {
  const file = join(directory, "PG_VERSION")
  if (!existsSync(file)) return
  const major = Number.parseInt(readFileSync(file, "utf8"), 10)
  if (major === EMBEDDED_MAJOR || Number.isNaN(major)) return
  const remedy =
    major > EMBEDDED_MAJOR
      ? "start the newer version that made it, or choose another DATA_DIR"
      : "run appmeter backup FILE with the version that made it, then appmeter restore FILE into another DATA_DIR " +
        "with this version"
  throw new DatabaseProblem(
    `${directory} has data of PostgreSQL ${major}, but this version of Appmeter reads ${EMBEDDED_MAJOR}: ${remedy}`,
  )
}
