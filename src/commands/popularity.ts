import { hash } from "node:crypto"
import { statSync } from "node:fs"
import { vacuumChanged } from "../database/upkeep.ts"
import { importPopularity } from "../keywords/import/import-popularity.ts"
import { type Report, ReportProblem, readReport } from "../keywords/import/popularity-report.ts"
import { storefrontNamed } from "../lib/storefront-names.ts"
import { recording } from "../recording.ts"
import { type Command, CommandProblem, type Invocation, WrongUse } from "./cli/command.ts"
import { csvText, readFileBytes } from "./cli/read-file.ts"
import { show } from "./cli/show.ts"
import { useDatabase } from "./cli/with-database.ts"

export const popularity: Command = {
  name: "popularity",
  changes: true,
  summary: "Import Apple's monthly search term report (CSV).",
  details: "Its popularity is shown instead of our estimate. Importing the same file again changes nothing.",
  examples: [
    ["popularity report.csv", "every country in the report"],
    ["popularity report.csv --country us", "one country; required if the report names none"],
    ["popularity report.csv --json", "counts and every skipped line"],
  ],
  positionals: ["file"],
  options: {
    country: { meaning: "A two-letter storefront code.", value: "CODE" },
    strict: { meaning: "Exit code 1 if any line is invalid. Valid lines are imported in any case." },
  },
  async run(invocation) {
    const { terminal, has } = invocation
    const file = open(invocation)
    const report = readFile(file.bytes, countryOf(invocation))
    const stored = await useDatabase(invocation, async (sql, { kind }) => {
      const result = await importPopularity(sql, report.published, {
        recording,
        seenAt: file.seenAt,
        sha256: hash("sha256", file.bytes, "buffer"),
        now: () => new Date(),
        onProgress: (done) => terminal.progress(`${done} of ${report.published.length} keywords`),
      })
      terminal.progress("")
      // the embedded database has no autovacuum
      if (kind === "embedded" && result.recorded >= BULK) await vacuumChanged(sql)
      return result
    })
    const bad = [...report.bad, ...stored.bad].sort((a, b) => a.line - b.line)
    const { read, otherStorefronts, published } = report
    const { recorded, alreadyStored } = stored
    const countries = distinct(published.map(({ storefront }) => storefront))
    const months = distinct(published.map(({ month }) => month.slice(0, 7)))
    const figures = {
      read,
      keywords: published.length,
      countries,
      months,
      recorded,
      known: alreadyStored,
      otherCountries: otherStorefronts,
      bad,
    }
    show(invocation, figures, () => [
      `${read} lines read: ${published.length} keywords (${[...countries, ...months].join(" ") || "none"}), ` +
        `${recorded} recorded, ${alreadyStored} known already; ${otherStorefronts} lines of other countries, ` +
        `${bad.length} invalid`,
    ])
    if (!has("json")) {
      for (const { line, reason } of bad.slice(0, SHOWN)) terminal.say(`line ${line}: ${reason}`)
      if (bad.length > SHOWN) terminal.say(`and ${bad.length - SHOWN} more; --json lists all of them`)
    }
    return bad.length > 0 && (has("strict") || recorded + alreadyStored === 0) ? 1 : 0
  },
}

const BULK = 1_000
const SHOWN = 20

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].sort()
}

function countryOf({ text }: Invocation): string | undefined {
  const typed = text("country")
  if (typed === undefined) return undefined
  const country = storefrontNamed(typed)
  if (country === undefined) throw new WrongUse("--country must be the two-letter code of a storefront, such as us")
  return country
}

function open({ positionals }: Invocation): { bytes: Uint8Array; seenAt: Date } {
  const [file = ""] = positionals
  const bytes = readFileBytes(file)
  return { bytes, seenAt: new Date(Math.min(statSync(file).mtimeMs, Date.now())) }
}

function readFile(bytes: Uint8Array, country: string | undefined): Report {
  try {
    return readReport(csvText(bytes), country)
  } catch (error) {
    if (error instanceof ReportProblem) throw new CommandProblem(error.message)
    throw error
  }
}
