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
  /** 0 keeps none. */
  days: number
  megabytes: number
  now?: () => Date
  log?: Log
}

export interface RawBodies {
  /** Never throws: a full disk costs the evidence, not the measurement, and logs a line an hour at most. */
  keep(body: RawBody): Promise<void>
  /** The body of that hash; null where it is not kept, or not as it was. Throws when the folder cannot be read. */
  read(sha256: Uint8Array): Promise<KeptBody | null>
  has(sha256: Uint8Array): Promise<boolean>
  sweep(): Promise<{ removed: number; bytes: number }>
  /** What is kept; `oldest` is when its body was last kept. */
  size(): Promise<{ bodies: number; bytes: number; oldest: Date | null }>
}

type KeptBody = Omit<RawBody, "url" | "seenAt">

/**
 * One gzip file each, named by the SHA-256 of what came: 200 KB for a search on Google Play, 2.7 KB for a look-up. Not
 * flushed one by one; processes on several machines keep a folder each.
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

/** Whether it was there. */
async function refresh(path: string, at: Date): Promise<boolean> {
  try {
    await utimes(path, at, at)
    return true
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
}

// The largest body that is read at all has 12 MB.
const LARGEST_BYTES = 50_000_000

async function read(folder: string, sha256: Uint8Array): Promise<KeptBody | null> {
  const [, path] = placeOf(folder, sha256)
  const packed = await readFile(path).catch((error) => {
    if (isAbsent(error)) return null
    throw error
  })
  if (!packed) return null
  const bytes = await gunzip(packed, { maxOutputLength: LARGEST_BYTES }).catch(() => null)
  if (!bytes || !Buffer.from(sha256).equals(hash("sha256", bytes, "buffer"))) {
    // out of the way, so that the same body can be kept again
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

/** The oldest first; what a process left that was ended while it wrote goes too. */
function outdated(files: readonly File[], nowMs: number, kept: { days: number; bytes: number }): File[] {
  let bytes = 0
  const latestFirst = files.toSorted((a, b) => b.atMs - a.atMs)
  const old = latestFirst.filter((file) => {
    if (file.path.endsWith(BEGUN)) return file.atMs < nowMs - HOUR_MS
    if (file.atMs < nowMs - kept.days * DAY_MS) return true
    bytes += file.bytes
    return bytes > kept.bytes
  })
  return old.toReversed()
}

/** The files of bodies, also those that were begun. Whatever else lies in the folder is left alone. */
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
  /** 0 keeps none. */
  accountDays: number
}

/** What consoles and ad accounts answered, each account's in a folder of its own: it is kept longer than pages, and goes with it. */
interface AccountBodies {
  /** Never throws, as of a page. */
  keep(body: RawBody, account: string): Promise<void>
  /** Whosever it is. */
  read: RawBodies["read"]
  has: RawBodies["has"]
  size(): Promise<{ bodies: number; bytes: number }>
  /** All of an account. */
  forget(account: string): Promise<void>
  /** What is too old or too much; of accounts that are not among these what is a week old. Looks once in ten minutes. */
  sweep(accounts: readonly string[]): Promise<void>
}

/** Another database may share the folder, or be restored from a backup: what it knows is not gone at once. */
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

/** Bodies of stores and of accounts; `oldest` is of those of stores. */
export function openAllBodies(options: AccountBodiesOptions): Pick<RawBodies, "read" | "has" | "size"> {
  const [stores, accounts] = [openRawBodies(options), openAccountBodies(options)]
  return {
    read: async (sha256) => (await stores.read(sha256)) ?? (await accounts.read(sha256)),
    has: async (sha256) => (await stores.has(sha256)) || (await accounts.has(sha256)),
    async size() {
      const [own, others] = [await stores.size(), await accounts.size()]
      return { ...own, bodies: own.bodies + others.bodies, bytes: own.bytes + others.bytes }
    },
  }
}
