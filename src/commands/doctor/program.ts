import { readText } from "../../database/assets.ts"
import { assertDriverPatched } from "../../database/patched.ts"
import type { Settings, SettingsProblems } from "../../settings/settings.ts"
import type { Invocation } from "../cli/command.ts"
import { assertOpenFiles, readOpenFilesLimit } from "../process/open-files.ts"
import { type Finding, ok, problem } from "./finding.ts"

/** Checks the runtime, the driver's patch and the limit of open files. */
export function checkProgram({ settings }: Pick<Invocation, "settings">): Finding[] {
  return [runtime(process.versions.bun), driver(), openFiles(settings)]
}

function openFiles(settings: Settings): Finding {
  const thing = "open files"
  const limit = readOpenFilesLimit()
  try {
    assertOpenFiles(settings, limit)
  } catch (error) {
    const [{ value, fix }] = (error as SettingsProblems).problems as [SettingsProblems["problems"][number]]
    return problem(thing, `the limit ${value}`, fix)
  }
  return ok(thing, limit === null ? "the limit is unknown" : `at most ${limit}`)
}

/**
 * Returns the finding about the runtime. `version` is undefined on a runtime other than Bun, which runs everything
 * except the embedded database.
 */
export function runtime(version: string | undefined): Finding {
  const { engines } = JSON.parse(readText("package.json")) as { engines: { bun: string } }
  const least = engines.bun.replace(/^\D+/, "")
  if (version === undefined) return ok("runtime", "not Bun, so the embedded database is not available")
  if (!isOlder(version, least)) return ok("runtime", `Bun ${version}`)
  return problem("runtime", `Bun ${version} is older than ${least}`, "run: bun upgrade")
}

function driver(): Finding {
  try {
    assertDriverPatched()
    return ok("driver", "postgres.js with the required patch")
  } catch {
    return problem(
      "driver",
      "the installed postgres driver lacks the required patch",
      "run: bun install --frozen-lockfile",
    )
  }
}

function isOlder(version: string, least: string): boolean {
  const partsOf = (text: string) => text.split(/[.-]/).map(Number)
  const parts = partsOf(version)
  for (const [i, part] of partsOf(least).slice(0, 3).entries()) if (parts[i] !== part) return (parts[i] ?? 0) < part
  return false
}
