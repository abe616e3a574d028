import { Buffer } from "node:buffer"
import { hash, randomUUID } from "node:crypto"
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import zlib from "node:zlib"
import { type Log, silentLog } from "../lib/log.ts"
import { DAY_MS } from "../lib/time.ts"
import type { RawBody } from "./source.ts"

export interface RawBodiesOptions {
  folder: string
  /** 0 disables storage. */
  days: number
  megabytes: number
  now?: () => Date
  log?: Log
}

export interface RawBodies {
  /**
   * Stores a body. Never throws: a full disk loses the evidence, not the measurement. Logs at most one warning an hour.
   */
  keep(body: RawBody): Promise<void>
  /** Returns the body with that hash. Null if it is not stored or damaged. Throws if the folder cannot be read. */
  read(sha256: Uint8Array): Promise<StoredBody | null>
  has(sha256: Uint8Array): Promise<boolean>
  sweep(): Promise<{ removed: number; bytes: number }>
  /** Returns the total size; `oldest` is the time at which the oldest body was last stored. */
  size(): Promise<{ bodies: number; bytes: number; oldest: Date | null }>
}

type StoredBody = Omit<RawBody, "url" | "seenAt">

/**
 * Stores each body as a gzip file named by the SHA-256 of its content: 200 KB for a Google Play search, 2.7 KB for a
 * look-up. Files are not fsynced one by one. Processes on several machines each have a folder of their own.
 */
export function openRawBodies({
  folder,
  days,
  megabytes,
  now = () => new Date(),
  log = silentLog,
}: RawBodiesOptions): RawBodies {
  const complain = complainer(log, now)
  return {
    async keep(body) {
      if (days === 0) return
      try {
        await write(folder, body, now())
      } catch (error) {
        complain(error)
      }
    },
    read: (sha256) => read(folder, sha256),
    has: async (sha256) => (await stat(placeOf(folder, sha256)[1]).catch(() => null)) !== null,
    async sweep() {
      const removed = { removed: 0, bytes: 0 }
      try {
        for (const file of outdated(await filesIn(folder, true), now().getTime(), { days, bytes: megabytes * 1e6 })) {
          await rm(file.path, { force: true })
          removed.removed++
          removed.bytes += file.bytes
        }
      } catch (error) {
        complain(error)
      }
      return removed
    },
    async size() {
      const files = await filesIn(folder)
      const oldest = files.reduce((least, { atMs }) => Math.min(least, atMs), Number.POSITIVE_INFINITY)
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
      return { bodies: files.length, bytes, oldest: files.length > 0 ? new Date(oldest) : null }
    },
  }
}

const HOUR_MS = 3_600_000

function complainer(log: Log, now: () => Date): (error: unknown) => void {
  let at = Number.NEGATIVE_INFINITY
  return (error) => {
    if (now().getTime() - at < HOUR_MS) return
    at = now().getTime()
    log("warn", "raw_bodies_failed", { reason: (error as Error).message })
  }
}

const gzip = promisify<Uint8Array, Buffer>(zlib.gzip)
const gunzip = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gunzip)

async function write(folder: string, { bytes, sha256 }: RawBody, at: Date): Promise<void> {
  const [inner, path] = placeOf(folder, sha256)
  if (await refresh(path, at)) return
  await mkdir(inner, { recursive: true, mode: 0o700 })
  const begun = `${path}.${randomUUID()}${BEGUN}`
  try {
    await writeFile(begun, await gzip(bytes), { mode: 0o600, flag: "wx" })
    await utimes(begun, at, at)
    await rename(begun, path)
  } catch (error) {
    await rm(begun, { force: true }).catch(() => {})
    throw error
  }
}

const BEGUN = ".begun"

function placeOf(folder: string, sha256: Uint8Array): [inner: string, path: string] {
  const hex = Buffer.from(sha256).toString("hex")
  const inner = join(folder, hex.slice(0, 2))
  return [inner, join(inner, `${hex.slice(2)}.gz`)]
}

/** Updates the file's time. Returns false if there is no such file. */
async function refresh(path: string, at: Date): Promise<boolean> {
  try {
    await utimes(path, at, at)
    return true
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
}

// The largest body that is read has 12 MB.
const LARGEST_BYTES = 50_000_000

async function read(folder: string, sha256: Uint8Array): Promise<StoredBody | null> {
  const [, path] = placeOf(folder, sha256)
  const packed = await readFile(path).catch((error) => {
    if (isAbsent(error)) return null
    throw error
  })
  if (!packed) return null
  const bytes = await gunzip(packed, { maxOutputLength: LARGEST_BYTES }).catch(() => null)
  if (!bytes || !Buffer.from(sha256).equals(hash("sha256", bytes, "buffer"))) {
    // delete the damaged file, so that the same body can be stored again
    await rm(path, { force: true }).catch(() => {})
    return null
  }
  return { bytes, text: new TextDecoder().decode(bytes), sha256 }
}

function isAbsent(error: unknown): boolean {
  return (error as { code?: string }).code === "ENOENT"
}

interface File {
  path: string
  bytes: number
  atMs: number
}

/** Returns the files to delete, oldest first, including those of a process that was killed while writing. */
function outdated(files: readonly File[], nowMs: number, limits: { days: number; bytes: number }): File[] {
  let bytes = 0
  const latestFirst = files.toSorted((a, b) => b.atMs - a.atMs)
  const old = latestFirst.filter((file) => {
    if (file.path.endsWith(BEGUN)) return file.atMs < nowMs - HOUR_MS
    if (file.atMs < nowMs - limits.days * DAY_MS) return true
    bytes += file.bytes
    return bytes > limits.bytes
  })
  return old.toReversed()
}

/** Returns the body files, with unfinished ones if `begun`. Ignores everything else in the folder. */
async function filesIn(folder: string, begun = false): Promise<File[]> {
  const files: File[] = []
  for (const inner of await namesIn(folder)) {
    if (!/^[0-9a-f]{2}$/.test(inner)) continue
    for (const name of await namesIn(join(folder, inner))) {
      if (!/^[0-9a-f]{62}\.gz(\..*)?$/.test(name) || !(name.endsWith(".gz") || (begun && name.endsWith(BEGUN))))
        continue
      const path = join(folder, inner, name)
      const found = await stat(path).catch(() => null)
      if (found) files.push({ path, bytes: found.size, atMs: found.mtimeMs })
    }
  }
  return files
}

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch((error) => {
    if (isAbsent(error)) return []
    throw error
  })
}

interface AccountBodiesOptions extends RawBodiesOptions {
  /** 0 disables storage. */
  accountDays: number
}

/**
 * Bodies from consoles and ad accounts, in one folder per account. They are kept longer than pages and are deleted with
 * the account.
 */
interface AccountBodies {
  /** Stores a body. Never throws. */
  keep(body: RawBody, account: string): Promise<void>
  /** Returns the body with that hash, whichever account it belongs to. */
  read: RawBodies["read"]
  has: RawBodies["has"]
  size(): Promise<{ bodies: number; bytes: number }>
  /** Deletes all bodies of an account. */
  forget(account: string): Promise<void>
  /**
   * Deletes bodies that are too old or beyond the size limit. If an account is not in this list, its bodies are deleted
   * after a week. Runs at most once in ten minutes.
   */
  sweep(accounts: readonly string[]): Promise<void>
}

/** Bodies of unknown accounts stay for a week: another database may share the folder, or a backup may be restored. */
const STRANGERS_DAYS = 7
const SWEEP_MS = 600_000

export function openAccountBodies({ folder, accountDays, ...options }: AccountBodiesOptions): AccountBodies {
  const { megabytes, now = () => new Date() } = options
  const root = join(folder, "accounts")
  const of = (account: string, days = accountDays, shares = 1) =>
    openRawBodies({ ...options, folder: join(root, account), days, megabytes: megabytes / shares })
  let sweptAt = Number.NEGATIVE_INFINITY
  const firstOf = async <Of>(ask: (bodies: RawBodies) => Promise<Of | null>): Promise<Of | null> => {
    for (const account of await accountsIn(root)) {
      const found = await ask(of(account))
      if (found !== null) return found
    }
    return null
  }
  return {
    async keep(body, account) {
      if (IS_ACCOUNT.test(account)) await of(account).keep(body)
    },
    read: (sha256) => firstOf((bodies) => bodies.read(sha256)),
    has: async (sha256) => (await firstOf(async (bodies) => (await bodies.has(sha256)) || null)) ?? false,
    async size() {
      const sizes = await Promise.all((await accountsIn(root)).map((account) => of(account).size()))
      const sum = (what: "bodies" | "bytes") => sizes.reduce((total, size) => total + size[what], 0)
      return { bodies: sum("bodies"), bytes: sum("bytes") }
    },
    async forget(account) {
      if (IS_ACCOUNT.test(account)) await rm(join(root, account), { recursive: true, force: true })
    },
    async sweep(accounts) {
      if (now().getTime() - sweptAt < SWEEP_MS) return
      sweptAt = now().getTime()
      const found = await accountsIn(root)
      const daysOf = (account: string) =>
        accounts.includes(account) ? accountDays : Math.min(accountDays, STRANGERS_DAYS)
      for (const account of found) await of(account, daysOf(account), found.length).sweep()
    },
  }
}

const IS_ACCOUNT = /^ac_[0-9a-f]{18}$/

async function accountsIn(root: string): Promise<string[]> {
  const names = await readdir(root).catch((error) => {
    if ((error as { code?: string }).code === "ENOENT") return []
    throw error
  })
  return names.filter((name) => IS_ACCOUNT.test(name)).sort()
}

/** Opens the bodies of stores and accounts together; `oldest` refers to those of stores. */
export function openAllBodies(options: AccountBodiesOptions): Pick<RawBodies, "read" | "has" | "size"> {
  const [stores, accounts] = [openRawBodies(options), openAccountBodies(options)]
  return {
    read: async (sha256) => (await stores.read(sha256)) ?? (await accounts.read(sha256)),
    has: async (sha256) => (await stores.has(sha256)) || (await accounts.has(sha256)),
    async size() {
      const [storeBytes, accountBytes] = [await stores.size(), await accounts.size()]
      return {
        ...storeBytes,
        bodies: storeBytes.bodies + accountBytes.bodies,
        bytes: storeBytes.bytes + accountBytes.bytes,
      }
    },
  }
}
