import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { PGlite, type PGliteOptions } from "@electric-sql/pglite"
import { DurableNodeFS, durable, syncPath } from "./durable-fs.ts"
import { loadEngine } from "./engine.ts"
import { templateOf } from "./template.ts"

/**
 * Opens the database. With a `directory`, every commit is flushed to the disk. Without one, the data is only in memory.
 * `template` is a tar with the initial data directory.
 */
export async function openCluster(
  directory: string | null,
  template?: Uint8Array<ArrayBuffer>,
  // Other threads compile the engine while the directory is created.
  engine: Promise<PGliteOptions> = loadEngine({ initdb: false }),
): Promise<PGlite> {
  engine.catch(() => {}) // An error is reported where the promise is awaited.
  if (directory === null) {
    const loadDataDir = new Blob([template ?? (await templateOf())])
    return create({ ...(await engine), loadDataDir, startParams: parameters() })
  }
  if (!existsSync(join(directory, "PG_VERSION"))) await createAtomically(directory, template ?? (await templateOf()))
  removeCutName(directory)
  const fs = new DurableNodeFS(directory)
  const cluster = await create({
    ...(await engine),
    fs,
    dataDir: directory,
    startParams: durable([...parameters(), "-c", "max_wal_size=256MB"]),
  })
  // Set after opening, because recovery from a crash must be able to write.
  fs.reservesLogSpace = true
  return cluster
}

/** Returns PostgreSQL's last FATAL or PANIC message. Empty while PostgreSQL runs. */
export const lastComplaint = (): string => complaint

let complaint = ""

// PGlite's error lacks the cause, which PostgreSQL writes to standard error.
async function create(options: PGliteOptions): Promise<PGlite> {
  complaint = ""
  const onStderr = (line: string) => {
    complaint = /(?:FATAL|PANIC): +(.*)/.exec(line)?.[1] ?? complaint
    return true
  }
  try {
    return await PGlite.create({ ...options, onStderr })
  } catch (error) {
    throw new Error(complaint || (error as Error).message, { cause: error })
  }
}

// The buffer is small, because each MB of it stays in the process's memory, and the operating system also caches pages
// and returns one in 3 µs.
const CACHE = { shared_buffers: "8MB" }

// The data is in memory, so random reads are cheap. With a disk's costs the planner scans small tables for each key:
// the pending jobs of 200 keywords take 40 ms and their ranks 25 ms, with this setting 5 ms each.
const PLANS = { random_page_cost: "1.1" }

// The statement that fills the pending list of a GIN index merges it while everyone waits. For list_now_apps, 4 MB take
// five times as long as 1 MB.
const MERGES = { gin_pending_list_limit: "1MB" }

function parameters(): string[] {
  const all = { ...CACHE, ...PLANS, ...MERGES, work_mem: "8MB", DateStyle: "ISO, MDY", TimeZone: "UTC" }
  return [...PGlite.defaultStartParams, ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])]
}

// PostgreSQL refuses a directory with an empty pid file, which a killed process may leave. Removing the file is safe,
// because this process holds the lock of the directory.
function removeCutName(directory: string): void {
  const path = join(directory, "postmaster.pid")
  if (existsSync(path) && !/^-?[1-9]/.test(readFileSync(path, "latin1"))) rmSync(path)
}

// Creates the directory under a temporary name and renames it. A first start that is killed then leaves only a folder
// that the next start removes.
async function createAtomically(directory: string, template: Uint8Array<ArrayBuffer>): Promise<void> {
  const parent = dirname(directory)
  const prefix = `${basename(directory)}.new-`
  for (const name of readdirSync(parent)) {
    if (name.startsWith(prefix)) rmSync(join(parent, name), { recursive: true, force: true })
  }
  const made = join(parent, prefix + process.pid)
  mkdirSync(made, { mode: 0o700 })
  await new Bun.Archive(template).extract(made)
  syncTree(made)
  renameSync(made, directory)
  syncFolder(parent)
}

function syncTree(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) syncTree(path)
    else if (entry.isFile()) {
      chmodSync(path, 0o600) // The file mode that PostgreSQL uses.
      syncPath(path)
    }
  }
  syncFolder(folder)
}

function syncFolder(folder: string): void {
  if (process.platform !== "win32") syncPath(folder)
}
