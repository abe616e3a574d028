import { createReadStream, statSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { openImportFindings } from "../alerts/imported.ts"
import type { Sql } from "../database/types.ts"
import { analyzeGrown } from "../database/upkeep.ts"
import { type ImportProgress, type ImportResult, importLines } from "../measuring/import/import-lines.ts"
import { recording } from "../recording.ts"
import { type Command, CommandProblem, type Invocation, type Terminal } from "./cli/command.ts"
import { linesOf } from "./cli/read-lines.ts"
import { show } from "./cli/show.ts"
import { useDatabase } from "./cli/with-database.ts"

export const importCommand: Command = {
  name: "import",
  changes: true,
  summary: "Import recorded readings, one JSON object per line.",
  details: "Invalid lines are reported and skipped. Importing the same file again changes nothing.",
  examples: [
    ["import readings.jsonl", "import a file; exit code 1 if every line is invalid"],
    ["import - --json < readings.jsonl", "import from stdin"],
    ["import readings.jsonl --strict", "exit code 1 if any line is invalid"],
  ],
  positionals: ["file"],
  options: { strict: { meaning: "Exit code 1 if any line is invalid. Valid lines are imported in any case." } },
  async run(invocation) {
    const { terminal, has } = invocation
    const source = open(invocation)
    const imported = await useDatabase(invocation, async (sql) => {
      const lines = linesOf(source.chunks)
      const findings = openImportFindings({ keptDays: invocation.settings.kept.alertDays })
      const { note } = findings
      const result = await importLines(recording, sql, lines, {
        pause: analyzing(sql),
        onProgress: progress(terminal, source),
        note,
      })
      terminal.progress("")
      // without statistics, queries on the imported data would be slow
      await analyzeGrown(sql)
      terminal.progress("looking for changes that make alerts")
      await findings.tell(sql)
      terminal.progress("")
      return result
    })
    show(invocation, imported, () => [summary(imported)])
    if (!has("json")) for (const line of badLines(imported)) terminal.say(line)
    const { read, bad, skipped = [] } = imported
    const isStrict = has("strict") && bad.length + skipped.length > 0
    return isStrict || (bad.length > 0 && bad.length === read) ? 1 : 0
  },
}

const PAUSE_MS = 5
/** Transactions before the first check for grown tables. The number doubles after each check. */
const FIRST_LOOK = 16

/**
 * Returns a function that analyses tables that have grown. Small tables take no time, and checks at doubling intervals
 * keep the statistics accurate enough.
 */
function analyzing(sql: Sql): () => Promise<void> {
  let [done, next] = [0, FIRST_LOOK]
  return async () => {
    await sleep(PAUSE_MS)
    if (++done < next) return
    next *= 2
    await analyzeGrown(sql)
  }
}

const SHOWN = 20

interface Source {
  chunks: AsyncIterable<Uint8Array>
  /** Size in bytes. Undefined if unknown. */
  size: number | undefined
  bytesRead(): number
}

function open({ positionals, terminal }: Invocation): Source {
  const [file = ""] = positionals
  if (file === "-") return counted(terminal.stdin(), undefined)
  const size = sizeOf(file)
  return counted(createReadStream(file), size)
}

function sizeOf(file: string): number | undefined {
  try {
    const stat = statSync(file)
    if (stat.isDirectory()) throw new CommandProblem(`${file} is a folder; give a file`)
    return stat.isFile() ? stat.size : undefined
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") throw new CommandProblem(`there is no file ${file}`)
    throw error
  }
}

function counted(chunks: AsyncIterable<Uint8Array>, size: number | undefined): Source {
  let bytes = 0
  const counting = async function* () {
    let before: number | undefined
    for await (const chunk of chunks) {
      if (bytes < 2) before = assertNotGzip(before, chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  return { chunks: counting(), size, bytesRead: () => bytes }
}

const GZIP = [0x1f, 0x8b]

/**
 * Throws CommandProblem if the first two bytes, which may arrive in separate chunks, are those of gzip. Returns the
 * last byte read so far.
 */
function assertNotGzip(before: number | undefined, chunk: Uint8Array): number | undefined {
  const [first, second] = before === undefined ? chunk : [before, ...chunk.subarray(0, 1)]
  if (first === GZIP[0] && second === GZIP[1])
    throw new CommandProblem("the file is compressed with gzip; use: zcat FILE | appmeter import -")
  return chunk.at(-1) ?? before
}

function progress(terminal: Terminal, { size, bytesRead }: Source) {
  return ({ read, recorded, known: alreadyStored, skipped }: ImportProgress) => {
    const share = size ? `${Math.floor((100 * bytesRead()) / size)} %, ` : ""
    terminal.progress(`${share}${read} lines: ${recorded} recorded, ${alreadyStored} known, ${skipped} invalid`)
  }
}

function summary({ read, recorded, known: alreadyStored, attempts, bad, skipped = [] }: ImportResult): string {
  const items = skipped.length > 0 ? `, ${skipped.length} invalid items skipped` : ""
  const counts = `${recorded} recorded, ${alreadyStored} known already, ${attempts} failed reads, ${bad.length} invalid`
  return `${read} lines read: ${counts}${items}`
}

function badLines({ bad, skipped = [] }: ImportResult): string[] {
  const all = [...bad, ...skipped.map(({ line, reason }) => ({ line, reason: `skipped ${reason}` }))]
  const lines = all.slice(0, SHOWN).map(({ line, reason }) => `line ${line}: ${reason}`)
  return all.length > SHOWN ? [...lines, `and ${all.length - SHOWN} more; --json lists all of them`] : lines
}
