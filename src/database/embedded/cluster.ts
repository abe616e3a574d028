import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { PGlite, type PGliteOptions } from "@electric-sql/pglite"
import { DurableNodeFS, durable, syncPath } from "./durable-fs.ts"
import { loadEngine } from "./engine.ts"
import { templateOf } from "./template.ts"

/** With a `directory` every commit is flushed to the disk; without one in memory. `template` is a tar to begin as. */
export async function openCluster(
  directory: string | null,
  template?: Uint8Array<ArrayBuffer>,
  // compiled by other threads while the directory is made
  engine: Promise<PGliteOptions> = loadEngine({ initdb: false }),
): Promise<PGlite> {
  engine.catch(() => {}) // told where it is awaited
  if (directory === null) {
    const loadDataDir = new Blob([template ?? (await templateOf())])
    return create({ ...(await engine), loadDataDir, startParams: parameters() })
  }
  if (!existsSync(join(directory, "PG_VERSION"))) await createBeside(directory, template ?? (await templateOf()))
  removeCutName(directory)
  const fs = new DurableNodeFS(directory)
  const cluster = await create({
    ...(await engine),
    fs,
    dataDir: directory,
    startParams: durable([...parameters(), "-c", "max_wal_size=256MB"]),
  })
  // what a crash has left is written again while it opens, which may not fail
  fs.keepsRoom = true
  return cluster
}

/** PostgreSQL's last word before it gave up; empty as long as it lives. */
export const lastComplaint = (): string => complaint

let complaint = ""

// PGlite itself says only that it failed; why is on PostgreSQL's standard error.
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

// The operating system caches pages as well and returns one in 3 us; each MB here is a MB of the process for good.
const CACHE = { shared_buffers: "8MB" }

// With a disk's seek costs, which memory does not have, the planner reads a table of a few pages whole for each key: the jobs under
// way of 200 keywords took 40 ms, their ranks 25; with this setting both take 5.
const PLANS = { random_page_cost: "1.1" }

// The statement that fills the pending list of a GIN index merges it while everybody waits: for list_now_apps 4 MB take five times
// as long as 1 MB.
const MERGES = { gin_pending_list_limit: "1MB" }

function parameters(): string[] {
  const all = { ...CACHE, ...PLANS, ...MERGES, work_mem: "8MB", DateStyle: "ISO, MDY", TimeZone: "UTC" }
  return [...PGlite.defaultStartParams, ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])]
}

// PostgreSQL opens no directory whose pid file is empty, as a kill may leave it. The folder's lock is held here.
function removeCutName(directory: string): void {
  const path = join(directory, "postmaster.pid")
  if (existsSync(path) && !/^-?[1-9]/.test(readFileSync(path, "latin1"))) rmSync(path)
}

// A first start that is killed leaves only a folder beside, which the next one removes.
async function createBeside(directory: string, template: Uint8Array<ArrayBuffer>): Promise<void> {
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
      chmodSync(path, 0o600) // as PostgreSQL makes them
      syncPath(path)
    }
  }
  syncFolder(folder)
}

function syncFolder(folder: string): void {
  if (process.platform !== "win32") syncPath(folder)
}
