import { createHash } from "node:crypto"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { RunningSum } from "../../src/database/rows.ts"
import { type Build, cliJson } from "./server.ts"

/**
 * The last commit with numbered migrations. Its schema is that of the first baseline, so its rows fit a later build,
 * but products refuse backups from before the baseline.
 */
export const BRIDGE_COMMIT = "a1b81c31dc323b714a0020124d25ddffe0f8f6f6"

/**
 * Lets the bridge upgrade the backup `from`, and writes it to `to` as a backup of the schema of `next`: with its steps
 * and with its order of columns.
 */
export async function upgradeBackup(bridge: Build, next: Build, from: string, to: string): Promise<void> {
  await cliJson(bridge, ["restore", from, "--force"])
  // the first start derives what the upgrade leaves to it
  await (await bridge.serve()).stop()
  const [head, ...lines] = await backupLines(bridge)
  const [{ migrations, tables: targets }] = await backupLines(next)
  const columns = new Map<string, string[]>(targets.map(({ name, columns }: Table) => [name, columns]))
  const tables = head.tables.map((table: Table) => ({ ...table, columns: columns.get(table.name) }))
  const sums = new Map<string, RunningSum>()
  let read = 0
  const rows = tables.flatMap(({ name, rows, columns }: Table) => {
    const sum = new RunningSum()
    sums.set(name, sum)
    const texts = lines.slice(read, read + rows).map((row) => JSON.stringify(ordered(row, columns)))
    read += rows
    for (const text of texts) sum.add(text)
    return texts
  })
  const body = `${[JSON.stringify({ ...head, migrations, tables }), ...rows].join("\n")}\n`
  const checksums = Object.fromEntries([...sums].map(([name, { sum }]) => [name, sum.checksum]))
  const sha256 = createHash("sha256").update(body).digest("hex")
  writeFileSync(to, gzipSync(`${body}${JSON.stringify({ checksums, sha256 })}\n`))
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

function ordered(row: Record<string, unknown>, columns: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(columns.map((column) => [column, row[column]]))
}
