import { createHash, type Hash } from "node:crypto"
import { createReadStream, createWriteStream, existsSync, readdirSync, rmSync, statSync } from "node:fs"
import { open, rename } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { Readable, type Writable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGunzip, createGzip } from "node:zlib"
import * as v from "valibot"
import type { Contents, ProgressListener, TableSum } from "../../database/contents.ts"
import type { Step } from "../../database/migrate.ts"
import { type Page, RunningSum } from "../../database/rows.ts"
import { valueAt } from "../../lib/objects.ts"
import { CommandProblem } from "../cli/command.ts"
import { linesOf } from "../cli/read-lines.ts"

/**
 * A backup is gzipped text with one JSON document per line. The head is followed by the rows of each table, in the
 * order and number that the head states: each row is an object with PostgreSQL's text of every value, or null. The foot
 * is the last line.
 */
export interface Head {
  appmeter: "backup"
  format: 1
  /** The version of the program that wrote the backup. */
  version: string
  at: string
  /** The schema that the rows fit: the baseline and the migrations, with their hashes. */
  migrations: Step[]
  months: Contents["months"]
  sequences: Contents["sequences"]
  tables: Contents["tables"]
}

/** The last line. A file without it is incomplete. */
interface Foot {
  /** The checksum of each table, computed by rows.ts. */
  checksums: Record<string, string>
  /** The hash of all text before this line. */
  sha256: string
}

export type Origin = Pick<Head, "version" | "at" | "migrations">

/** The bytes of a backup and the sums of its tables. */
export interface Written {
  bytes: number
  tables: TableSum[]
}

/**
 * Writes the contents to `path`, readable by this user only. The file appears only after all of it was flushed to
 * the disk.
 */
export async function writeBackup(
  path: string,
  origin: Origin,
  contents: Contents,
  onProgress: ProgressListener,
): Promise<Written> {
  const made = prepareTemporaryPath(path)
  try {
    const target = createWriteStream(made, { flags: "wx", mode: 0o600 })
    const written = await streamBackup(target, origin, contents, onProgress)
    await sync(made)
    await rename(made, path)
    if (process.platform !== "win32") await sync(dirname(resolve(path)))
    return written
  } catch (error) {
    rmSync(made, { force: true })
    throw problemOf(error, path)
  }
}

/** Writes the contents to a stream. Ends the stream unless it is stdout, which the process still needs. */
export async function streamBackup(
  target: Writable,
  origin: Origin,
  contents: Contents,
  onProgress: ProgressListener,
): Promise<Written> {
  const { tables, months, sequences } = contents
  const head: Head = { appmeter: "backup", format: 1, ...origin, months, sequences, tables }
  const sums = new Map(tables.map(({ name }) => [name, new RunningSum()]))
  const gzip = createGzip()
  let bytes = 0
  gzip.on("data", (chunk: Uint8Array) => {
    bytes += chunk.length
  })
  await pipeline(Readable.from(texts(head, contents, sums, onProgress)), gzip, target, {
    end: target !== process.stdout,
  })
  return { bytes, tables: tables.map(({ name }) => ({ name, ...valueAt(sums, name).sum })) }
}

/** Reads a whole backup. Throws CommandProblem if it is damaged. */
export async function verifyBackup(path: string): Promise<void> {
  for await (const _ of (await openBackup(path)).pages());
}

/** Reads the first line only. Throws CommandProblem if the file is not a backup. */
async function readHead(path: string): Promise<Head> {
  const lines = linesIn(path)
  try {
    return headOf(await lines.next(), path)
  } finally {
    await lines.return(undefined)
  }
}

/**
 * Opens a backup. If the file was altered, reading its pages throws CommandProblem, at the latest after the last page.
 */
export async function openBackup(path: string): Promise<Head & Contents> {
  const head = await readHead(path)
  return { ...head, pages: () => checkedPages(path, head) }
}

const PAGE = 500

async function* texts(head: Head, contents: Contents, sums: Map<string, RunningSum>, onProgress: ProgressListener) {
  const sha256 = createHash("sha256")
  const noted = (text: string) => {
    sha256.update(text)
    return text
  }
  yield noted(`${JSON.stringify(head)}\n`)
  const expected = new Map(head.tables.map(({ name, rows }) => [name, rows]))
  for await (const { table, lines } of contents.pages()) {
    const sum = valueAt(sums, table)
    for (const line of lines) sum.add(line)
    yield noted(`${lines.join("\n")}\n`)
    onProgress(table, sum.rows, valueAt(expected, table))
  }
  const missed = head.tables.find(({ name, rows }) => valueAt(sums, name).rows !== rows)
  if (missed)
    throw new CommandProblem(
      `only ${valueAt(sums, missed.name).rows} of ${missed.rows} rows of ${missed.name} could be read`,
    )
  const foot: Foot = { checksums: checksumsOf(sums), sha256: sha256.digest("hex") }
  yield `${JSON.stringify(foot)}\n`
}

async function* checkedPages(path: string, head: Head): AsyncGenerator<Page> {
  const lines = linesIn(path)
  const sha256 = createHash("sha256")
  const sums = new Map(head.tables.map(({ name }) => [name, new RunningSum()]))
  const first = await lines.next()
  sha256.update(`${first.value}\n`)
  if (JSON.stringify(headOf(first, path)) !== JSON.stringify(head)) throw damaged(path, "it changed while being read")
  for (const { name, rows } of head.tables) {
    for (let left = rows; left > 0; left -= PAGE) {
      const page = await take(lines, Math.min(left, PAGE), path)
      for (const line of page) valueAt(sums, name).add(line)
      sha256.update(`${page.join("\n")}\n`)
      yield { table: name, lines: page }
    }
  }
  await checkFoot(lines, sums, sha256, path)
}

async function take(lines: AsyncIterator<string>, count: number, path: string): Promise<string[]> {
  const page: string[] = []
  while (page.length < count) {
    const { value, done } = await lines.next()
    if (done) throw damaged(path, "its end is missing")
    page.push(value)
  }
  return page
}

async function checkFoot(lines: AsyncIterator<string>, sums: Map<string, RunningSum>, sha256: Hash, path: string) {
  const { checksums, sha256: written } = parsed<Foot>((await lines.next()).value, path)
  if (written !== sha256.digest("hex")) throw damaged(path, "its checksum does not match")
  for (const [name, checksum] of Object.entries(checksumsOf(sums))) {
    if (checksums?.[name] !== checksum) throw damaged(path, `the checksum of ${name} does not match`)
  }
  if (!(await lines.next()).done) throw damaged(path, "there is data after its end")
}

function checksumsOf(sums: Map<string, RunningSum>): Record<string, string> {
  return Object.fromEntries([...sums].map(([name, { sum }]) => [name, sum.checksum]))
}

async function* linesIn(path: string): AsyncGenerator<string> {
  const file = createReadStream(path)
  const text = createGunzip()
  file.on("error", (error) => text.destroy(error))
  try {
    yield* linesOf(file.pipe(text), Number.POSITIVE_INFINITY)
  } catch (error) {
    throw problemOf(error, path)
  } finally {
    file.destroy()
    text.destroy()
  }
}

function headOf({ value, done }: IteratorResult<string>, path: string): Head {
  const head = done ? undefined : parsed<Head>(value, path)
  if (head?.appmeter !== "backup") throw new CommandProblem(`${path} is not a backup of Appmeter`)
  if (head.format !== 1)
    throw new CommandProblem(
      `${path} was written by Appmeter ${head.version}, which is newer; restore it with that version`,
    )
  // a flipped bit in a field name makes the head invalid, and gzip reports damage only at the end of the file
  if (!v.is(HEAD, head)) throw damaged(path, "its first line is invalid")
  return head
}

const COUNT = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const HEAD = v.looseObject({
  version: v.string(),
  at: v.string(),
  migrations: v.array(v.looseObject({ name: v.string(), sha256: v.string() })),
  months: v.array(v.string()),
  sequences: v.array(v.looseObject({ table: v.string(), column: v.string(), last: v.nullable(v.number()) })),
  tables: v.array(v.looseObject({ name: v.string(), columns: v.array(v.string()), rows: COUNT })),
})

function parsed<T>(line: string | undefined, path: string): T {
  try {
    return JSON.parse(line ?? "") as T
  } catch {
    throw damaged(path, line === undefined ? "its end is missing" : "one of its lines cannot be read")
  }
}

function damaged(path: string, what: string): CommandProblem {
  return new CommandProblem(`${path} is damaged: ${what}; nothing was written`)
}

function problemOf(error: unknown, path: string): unknown {
  const { code = "" } = error as { code?: string }
  if (code === "Z_BUF_ERROR") return damaged(path, "its end is missing")
  if (code.startsWith("Z_")) return damaged(path, "it is not gzip or was altered")
  if (code === "ENOENT") return new CommandProblem(`${path}: the file or its folder does not exist`)
  if (["EACCES", "EISDIR", "ENOSPC", "EROFS"].includes(code))
    return new CommandProblem(`${path}: ${(error as Error).message}`)
  return error
}

/** Returns a temporary path next to the file. Removes the temporary files that killed runs left. */
function prepareTemporaryPath(path: string): string {
  const [folder, name] = [dirname(resolve(path)), basename(path)]
  for (const left of existsSync(folder) ? readdirSync(folder) : []) {
    const [, pid] = left.startsWith(`${name}.part-`) ? left.split(".part-") : []
    if (pid && !isWritten(join(folder, left), Number.parseInt(pid, 10))) rmSync(join(folder, left), { force: true })
  }
  // in a container every command has process id 1, so the id alone would repeat that of a killed run
  return join(folder, `${name}.part-${process.pid}-${crypto.randomUUID().slice(0, 8)}`)
}

const SILENT_MS = 3_600_000

function isWritten(file: string, pid: number): boolean {
  const writtenMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs
  if (writtenMs === undefined || Date.now() - writtenMs > SILENT_MS) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === "EPERM"
  }
}

async function sync(path: string): Promise<void> {
  // Windows flushes only files that were opened for writing, and no folders
  const handle = await open(path, process.platform === "win32" ? "r+" : "r")
  await handle.sync().finally(() => handle.close())
}
