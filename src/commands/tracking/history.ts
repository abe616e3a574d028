import { basename } from "node:path"
import { RankFileProblem, type RankHistoryFile, readRankHistory } from "../../keywords/import/rank-history-file.ts"
import { listRankImports, removeRankImport, storeImportedRanks } from "../../keywords/store/imported-ranks.ts"
import { dayOf } from "../../lib/days.ts"
import { storefrontNamed } from "../../lib/storefront-names.ts"
import { listTerms } from "../../tracking/terms.ts"
import { type Command, CommandProblem, type Invocation, WrongUse } from "../cli/command.ts"
import { csvText, readFileBytes } from "../cli/read-file.ts"
import { printable, show, table } from "../cli/show.ts"
import { useDatabase } from "../cli/with-database.ts"
import { findTracked } from "./app.ts"

export const historyImport: Command = {
  name: "app history import",
  changes: true,
  summary: "Import ranks that another tool measured, from a CSV file.",
  details:
    "Charts show them next to this instance's own readings, as a separate source. No other figure uses them, and " +
    "a day that is missing in the file counts as not measured. Columns: date, keyword, country and rank, or a " +
    "keyword and a column for each day. Importing the same file again changes nothing. app history list shows the " +
    "imports.",
  examples: [
    ["app history import 'Tide Times' ranks.csv --tool AppTweak", "an app's name or id, and an export of that tool"],
    ["app history import 'Tide Times' ranks.csv --tool Astro --country us", "a file without a column for the country"],
  ],
  positionals: ["app", "file"],
  options: {
    tool: { value: "NAME", meaning: "The tool that measured the ranks, as charts name it. Default: imported." },
    country: { value: "CODE", meaning: "The storefront of a file without such a column." },
    android: { meaning: "The file has Google Play ranks. Default: App Store ranks." },
    dates: { value: "ORDER", meaning: "dmy or mdy, for a file in which 01/02/2025 may be either." },
    strict: { meaning: "Exit code 1 if any line is invalid. Valid lines are imported in any case." },
  },
  async run(invocation) {
    const { positionals, has, terminal } = invocation
    const [word = "", path = ""] = positionals
    const tool = toolOf(invocation)
    const platform = has("android") ? "android" : "ios"
    const now = new Date()
    const file = readFile(invocation, path, dayOf(now))
    const { result, untracked } = await useDatabase(invocation, async (sql) => {
      const app = await findTracked(sql, word)
      const source = { appId: app.id, platform, tool, file: basename(path), now } as const
      const result = await storeImportedRanks(sql, source, file.ranks, (done) =>
        terminal.progress(`${done} of ${file.ranks.length} ranks`),
      )
      terminal.progress("")
      return { result, untracked: untrackedOf(file, await listTerms(sql, app.id, null)) }
    })
    const { ranks, read, unranked, bad } = file
    const keywords = new Set(ranks.map(({ term }) => term)).size
    const days = ranks.map(({ day }) => day).sort()
    const figures = {
      read,
      ranks: ranks.length,
      stored: result.stored,
      unranked,
      keywords,
      from: days[0] ?? null,
      to: days.at(-1) ?? null,
      untracked,
      tool,
      bad,
    }
    show(invocation, figures, () => [
      `${ranks.length} ranks of ${keywords} keywords${days[0] ? ` from ${days[0]} to ${days.at(-1)}` : ""}: ` +
        `${result.stored} new or changed; ${unranked} cells without a rank, ${bad.length} invalid lines`,
      ...(untracked.length > 0
        ? [
            `${untracked.length} keywords are not tracked in their storefront, so that no page shows them yet: ` +
              `${untracked.slice(0, 5).map(printable).join(", ")}${untracked.length > 5 ? ", …" : ""}`,
          ]
        : []),
    ])
    if (!has("json")) for (const { line, reason } of bad.slice(0, SHOWN)) terminal.say(`line ${line}: ${reason}`)
    return bad.length > 0 && (has("strict") || ranks.length === 0) ? 1 : 0
  },
}

export const historyList: Command = {
  name: "app history list",
  summary: "List the imported ranks of other tools by file.",
  examples: [["app history list 'Tide Times' --json", "as JSON"]],
  positionals: ["app"],
  async run(invocation) {
    const [word = ""] = invocation.positionals
    const imports = await useDatabase(invocation, async (sql) =>
      listRankImports(sql, (await findTracked(sql, word)).id),
    )
    show(invocation, { imports }, () =>
      table(
        ["ID", "TOOL", "STORE", "RANKS", "FROM", "TO", "FILE", "IMPORTED"],
        imports.map(({ id, tool, platform, ranks, from, to, file, importedAt }) => [
          id,
          printable(tool),
          platform === "ios" ? "App Store" : "Google Play",
          ranks,
          from,
          to,
          printable(file),
          dayOf(importedAt),
        ]),
        "no imported ranks; add some with: appmeter app history import",
      ),
    )
    return 0
  },
}

export const historyRemove: Command = {
  name: "app history remove",
  changes: true,
  summary: "Delete the imported ranks of a file.",
  examples: [["app history remove 'Tide Times' 3", "the import with this id in app history list"]],
  positionals: ["app", "import"],
  async run(invocation) {
    const [word = "", typed = ""] = invocation.positionals
    if (!/^\d{1,9}$/.test(typed)) throw new WrongUse("give the id of an import; see: appmeter app history list")
    const isRemoved = await useDatabase(invocation, async (sql) =>
      removeRankImport(sql, (await findTracked(sql, word)).id, Number(typed)),
    )
    if (!isRemoved) throw new CommandProblem("the app has no import with this id; see: appmeter app history list")
    show(invocation, { removed: Number(typed) }, () => [`removed import ${typed} with its ranks`])
    return 0
  },
}

const DEFAULT_TOOL = "imported"
const SHOWN = 20

function toolOf({ text }: Invocation): string {
  const tool = (text("tool") ?? DEFAULT_TOOL).trim()
  if (tool.length < 1 || tool.length > 40) throw new WrongUse("--tool must have 1 to 40 characters")
  return tool
}

function readFile({ text }: Invocation, path: string, today: string): RankHistoryFile {
  const country = text("country")
  const storefront = country === undefined ? undefined : storefrontNamed(country)
  if (country !== undefined && storefront === undefined)
    throw new WrongUse("--country must be the two-letter code of a storefront, such as us")
  const dayOrder = text("dates")
  if (dayOrder !== undefined && dayOrder !== "dmy" && dayOrder !== "mdy")
    throw new WrongUse("--dates must be dmy (31/01/2025) or mdy (01/31/2025)")
  const csv = csvText(readFileBytes(path))
  try {
    return readRankHistory(csv, { storefront, dayOrder, today })
  } catch (error) {
    if (error instanceof RankFileProblem) throw new CommandProblem(error.message)
    throw error
  }
}

function untrackedOf({ ranks }: RankHistoryFile, tracked: readonly { country: string; term: string }[]): string[] {
  const trackedKeys = new Set(tracked.map(({ country, term }) => `${country} ${term}`))
  const missing = ranks.filter(({ storefront, term }) => !trackedKeys.has(`${storefront} ${term}`))
  return [...new Set(missing.map(({ term }) => term))].sort()
}
