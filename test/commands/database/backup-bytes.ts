import { expect } from "bun:test"
import { createHash, hash } from "node:crypto"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { openBackup } from "../../../src/commands/database/backup-file.ts"

export const packed = (text: string) => gzipSync(text)

/** Returns the bytes with one bit changed. A negative `at` counts from the end. */
export function flipBit(bytes: Buffer, at: number, bit = 0): Buffer {
  const other = Buffer.from(bytes)
  other[at < 0 ? other.length + at : at]! ^= 1 << bit
  return other
}

/** Returns all rows of a backup. */
export async function rowsOf(file: string): Promise<string> {
  const lines: string[] = []
  for await (const page of (await openBackup(file)).pages()) lines.push(page.table, ...page.lines)
  return lines.join("\n")
}

/** Returns the rows of a table in a backup. */
export async function recordsOf(file: string, table: string): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = []
  for await (const page of (await openBackup(file)).pages())
    if (page.table === table) rows.push(...page.lines.map((line) => JSON.parse(line)))
  return rows
}

/** Returns the text with a valid footer. */
export function resign(text: string): string {
  const lines = text.trimEnd().split("\n")
  const foot = JSON.parse(lines.pop()!)
  const body = `${lines.join("\n")}\n`
  expect(hash("sha256", body)).toBe(createHash("sha256").update(body).digest("hex"))
  return `${body}${JSON.stringify({ ...foot, sha256: hash("sha256", body) })}\n`
}

/** Returns the size of the tables' files, including open transactions. */
export function bytesOf(dataDir: string): number {
  const base = join(dataDir, "postgres", "base")
  const files = readdirSync(base, { recursive: true, encoding: "utf8" })
  return files.reduce((sum, name) => sum + (statSync(join(base, name), { throwIfNoEntry: false })?.size ?? 0), 0)
}
