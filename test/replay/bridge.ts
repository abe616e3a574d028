import { createHash } from "node:crypto"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { RunningSum } from "../../src/database/rows.ts"
import { type Build, cliJson } from "./server.ts"

/**
 * The last commit with numbered migrations. Its schema is that of the first baseline, so that a later build can read
 * its rows, but the program refuses backups from before the baseline.
 */
export const BRIDGE_COMMIT = "a1b81c31dc323b714a0020124d25ddffe0f8f6f6"

/**
 * Upgrades the backup `from` with the bridge, and writes it to `to` as a backup of the schema of `next`: with its
 * steps, tables, sequences and order of columns. Tables that `next` lacks are left out.
 */
export async function upgradeBackup(bridge: Build, next: Build, from: string, to: string): Promise<void> {
  await cliJson(bridge, ["restore", from, "--force"])
  // at its first start, the bridge derives the data that the upgrade does not create
  await (await bridge.serve()).stop()
  const [head, ...lines] = await backupLines(bridge)
  const [{ migrations, tables: targets, sequences }] = await backupLines(next)
  const rowsOf = new Map<string, Record<string, unknown>[]>()
  let read = 0
  for (const { name, rows } of head.tables as Table[]) {
    rowsOf.set(name, SHORT_LIVED.includes(name) ? [] : lines.slice(read, read + rows))
    read += rows
  }
  const checksums: Record<string, string> = {}
  const tables = (targets as Table[]).map((table) => ({ ...table, rows: rowsOf.get(table.name)?.length ?? 0 }))
  const rows = tables.flatMap(({ name, columns }) => {
    const sum = new RunningSum()
    const texts = (rowsOf.get(name) ?? []).map((row) => JSON.stringify(upgraded(name, row, columns)))
    for (const text of texts) sum.add(text)
    checksums[name] = sum.sum.checksum
    return texts
  })
  const lastOf = new Map((head.sequences as Sequence[]).map(({ table, column, last }) => [`${table}.${column}`, last]))
  const numbered = (sequences as Sequence[]).map((sequence) => {
    return { ...sequence, last: lastOf.get(`${sequence.table}.${sequence.column}`) ?? null }
  })
  const upgradedHead = { ...head, migrations, tables, sequences: numbered }
  const body = `${[JSON.stringify(upgradedHead), ...rows].join("\n")}\n`
  const sha256 = createHash("sha256").update(body).digest("hex")
  writeFileSync(to, gzipSync(`${body}${JSON.stringify({ checksums, sha256 })}\n`))
}

/** Tables whose rows live for minutes. They now belong to a person, which the old world does not have. */
const SHORT_LIVED = ["sign_in_code", "oauth_code"]

/** Values of required columns that the old world does not have. */
const ADDED: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  approval: { scope: "track:write" },
  audit: { scope: "track:write" },
  job: { scope: "ads:write" },
  sales_fact_row: { report: "sales" },
  report_day: { about: "" },
}

interface Sequence {
  table: string
  column: string
  last: number | null
}

interface Table {
  name: string
  columns: string[]
  rows: number
}

// biome-ignore lint/suspicious/noExplicitAny: lines of a backup are rows of any table
async function backupLines(build: Build): Promise<any[]> {
  const path = join(build.folder, "bridge.backup")
  await cliJson(build, ["migrate"])
  await cliJson(build, ["backup", path])
  const text = gunzipSync(readFileSync(path)).toString()
  rmSync(path)
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
}

function upgraded(table: string, row: Record<string, unknown>, columns: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(columns.map((column) => [column, row[column] ?? ADDED[table]?.[column] ?? null]))
}
