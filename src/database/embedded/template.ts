import { hash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import process from "node:process"
import { PGlite } from "@electric-sql/pglite"
import { readTree } from "../assets.ts"
import { migrationScripts } from "../migrate.ts"
import { carried, loadEngine, packageFolder, unpacked } from "./engine.ts"

/** Returns a data directory as a tar, so that a first start need not run initdb. Null if none has been created yet. */
export function findTemplate(): Uint8Array<ArrayBuffer> | null {
  const embedded = carried(TEMPLATE)
  if (embedded) return embedded
  try {
    return unpacked(cachePath())
  } catch {
    return null
  }
}

export async function templateOf(): Promise<Uint8Array<ArrayBuffer>> {
  const found = findTemplate()
  if (found) return found
  const made = await makeTemplateApart()
  keep(made)
  return made
}

/**
 * Creates the template in a child process, because initdb takes 900 MB that the process which runs it never releases.
 */
export async function makeTemplateApart(): Promise<Uint8Array<ArrayBuffer>> {
  const { PATH, HOME, TMPDIR } = process.env
  const child = Bun.spawn([process.execPath, import.meta.filename, IN_CHILD], {
    env: { PATH, HOME, TMPDIR },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [template, complaint, code] = await Promise.all([
    new Response(child.stdout).bytes(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`the first data directory could not be made: ${complaint.trim() || `code ${code}`}`)
  return template
}

export const TEMPLATE = "template.tar"

/**
 * Creates the template. It is shut down cleanly, so that the first open needs no recovery. Later migrations are applied
 * as in any database.
 */
async function makeTemplate(): Promise<Uint8Array<ArrayBuffer>> {
  const cluster = await PGlite.create({
    ...(await loadEngine({ initdb: true })),
    // Log segments of 1 MB, none of them reserved, make a new directory 15 MB smaller.
    initDbStartParams: ["--wal-segsize=1", "--no-instructions"],
    startParams: [...PGlite.defaultStartParams, "-c", "min_wal_size=2MB", "-c", "max_wal_size=2MB"],
  })
  for (const script of migrationScripts(migrations())) await cluster.exec(script)
  await dropModels(cluster)
  // Includes statistics, because nothing else gathers them, and the planner would have to guess.
  await cluster.exec("vacuum (freeze, analyze)")
  const { FS } = cluster.Module
  await cluster.close()
  return new Uint8Array(Buffer.concat([...packed(FS, DATA, ""), Buffer.alloc(1_024)]))
}

/**
 * Drops the template databases. They are never used here, have 600 of the 1,600 files, and cost a fifth of the time of
 * a first start. They would also never be vacuumed, so PostgreSQL's oldest transaction would never advance.
 */
async function dropModels(cluster: PGlite): Promise<void> {
  await cluster.exec("update pg_database set datistemplate = false where datname <> current_database()")
  for (const name of ["template0", "template1"]) await cluster.exec(`drop database ${name}`)
}

interface Files {
  readdir(path: string): string[]
  readFile(path: string): Uint8Array
  stat(path: string): { mode: number }
  isDir(mode: number): boolean
}

// PGlite's data directory in PGlite's virtual file system.
const DATA = "/pglite/data"

function* packed(files: Files, from: string, to: string): Generator<Uint8Array> {
  for (const name of files.readdir(from).sort()) {
    if (name === "." || name === ".." || name === "postmaster.pid") continue
    const [path, inTar] = [`${from}/${name}`, `${to}${name}`]
    if (files.isDir(files.stat(path).mode)) {
      yield tarHeader(`${inTar}/`, 0)
      yield* packed(files, path, `${inTar}/`)
    } else {
      const bytes = files.readFile(path)
      yield tarHeader(inTar, bytes.length)
      yield bytes
      yield tarPadding(bytes.length)
    }
  }
}

const KEPT = "appmeter-template-"

/** Returns the path of the cached template, which depends on the schema. */
function cachePath(): string {
  const folder = packageFolder()
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }
  const schema = hash("sha256", migrationScripts(migrations()).join("\n"), "hex").slice(0, 12)
  return join(folder, "../../.cache", `${KEPT}${version}-${schema}.tar.zst`)
}

const migrations = () => readTree("sql", ".sql")

// Ignores failures: in a read-only checkout, the next start creates the template again.
function keep(template: Uint8Array<ArrayBuffer>): void {
  try {
    const path = cachePath()
    const folder = dirname(path)
    mkdirSync(folder, { recursive: true })
    for (const name of readdirSync(folder)) if (name.startsWith(KEPT)) rmSync(join(folder, name), { force: true })
    writeFileSync(`${path}.${process.pid}`, Bun.zstdCompressSync(template, { level: 3 }))
    renameSync(`${path}.${process.pid}`, path)
  } catch {}
}

// Writes the subset of tar (POSIX ustar) that a data directory needs: short names, no links, no times.

/** Returns the header of an entry. A name that ends in "/" is a folder. */
function tarHeader(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`too long for the template: ${name}`)
  const folder = name.endsWith("/")
  const block = Buffer.alloc(BLOCK)
  block.write(name, 0)
  block.write(octal(folder ? 0o700 : 0o600, 8), 100)
  block.write(octal(0, 8), 108)
  block.write(octal(0, 8), 116)
  block.write(octal(size, 12), 124)
  block.write(octal(0, 12), 136)
  block.write(" ".repeat(8), 148)
  block.write(folder ? "5" : "0", 156)
  block.write("ustar\u000000", 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
  return block
}

function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)
}

const BLOCK = 512

const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, "0")}\0`

const IN_CHILD = "make-template-in-child"

// The program of the child process. The parent process reads the template from stdout.
if (process.argv[1] === import.meta.filename && process.argv[2] === IN_CHILD)
  void makeTemplate().then((template) => Bun.write(Bun.stdout, template))
