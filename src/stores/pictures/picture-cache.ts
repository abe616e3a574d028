import { hash, randomUUID } from "node:crypto"
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Log } from "../../lib/log.ts"
import { createTurns } from "../../lib/turns.ts"
import type { SafeFetch } from "../../outbound/safe-fetch.ts"
import { isPictureAddress } from "./picture-address.ts"
import { type PictureType, pictureType } from "./picture-type.ts"

interface StoredPicture {
  type: PictureType
  bytes: Uint8Array<ArrayBuffer>
}

/** Cache of the stores' icons and screenshots on this machine. */
export interface PictureCache {
  /**
   * Fetches the picture if it is not stored. Null if the address is not a store's picture, or if the picture is
   * unavailable now.
   */
  read(address: string): Promise<StoredPicture | null>
}

interface PictureCacheParts {
  folder: string
  maxBytes: number
  fetch: SafeFetch
  log: Log
  now?: () => number
}

/** A screenshot of 300 pixels is some 40 kB. */
export const MAX_PICTURE_BYTES = 500_000
const MAX_AT_ONCE = 4
/**
 * Maximum number of pictures being fetched or waiting. Beyond it a request gets no picture, and the page shows
 * initials.
 */
const MAX_WAITING = 400
const MAX_WAIT_MS = 20_000
/** A URL that failed is not requested again for this long. */
const FAILED_MS = 600_000
const MAX_FAILED = 2_000
/**
 * Once the limit is reached, pictures are deleted down to this share of it, so that the next picture does not reach it
 * again.
 */
const KEPT_SHARE = 0.8

/** Stores each picture once for all callers. The pictures not opened for longest are deleted first. */
export function createPictureCache(parts: PictureCacheParts): PictureCache {
  const { folder, maxBytes, fetch, log, now = Date.now } = parts
  const pending = new Map<string, Promise<StoredPicture | null>>()
  const failedAt = new Map<string, number>()
  const turns = createTurns(MAX_AT_ONCE)
  let storedBytes: number | null = null

  async function load(address: string): Promise<StoredPicture | null> {
    const path = join(folder, hash("sha256", address))
    const stored = await readStored(path)
    if (stored) return stored
    if (now() - (failedAt.get(address) ?? Number.NEGATIVE_INFINITY) < FAILED_MS) return null
    if (pending.size > MAX_WAITING) return null
    try {
      await turns.enter(AbortSignal.timeout(MAX_WAIT_MS))
    } catch {
      return null // too many requests are waiting
    }
    try {
      const fetched = await fetchPicture(address)
      if (fetched) await store(path, fetched.bytes)
      else noteFailed(address)
      return fetched
    } finally {
      turns.leave()
    }
  }

  async function fetchPicture(address: string): Promise<StoredPicture | null> {
    try {
      const { status, bytes } = await fetch(address, {
        headers: { accept: "image/webp, image/jpeg, image/png" },
        mostBytes: MAX_PICTURE_BYTES,
      })
      const type = status === 200 ? pictureType(bytes) : null
      return type && { type, bytes: new Uint8Array(bytes) }
    } catch (error) {
      log("info", "picture_unreachable", { reason: (error as { code?: string }).code ?? "unknown" })
      return null
    }
  }

  function noteFailed(address: string): void {
    if (failedAt.size >= MAX_FAILED) failedAt.clear()
    failedAt.set(address, now())
  }

  /** A full or read-only disk prevents caching, but the picture is still returned. */
  async function store(path: string, bytes: Uint8Array): Promise<void> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      storedBytes ??= (await filesIn(folder)).reduce((sum, { size }) => sum + size, 0)
      const temporary = `${path}.${randomUUID()}`
      await writeFile(temporary, bytes, { mode: 0o600 })
      await rename(temporary, path)
      storedBytes += bytes.length
      if (storedBytes > maxBytes) storedBytes = await evictOldest(folder, maxBytes * KEPT_SHARE)
    } catch (error) {
      log("warn", "picture_store_failed", { reason: (error as Error).message })
    }
  }

  return {
    read(address) {
      if (!isPictureAddress(address)) return Promise.resolve(null)
      const running = pending.get(address)
      if (running) return running
      const loading = load(address).finally(() => pending.delete(address))
      pending.set(address, loading)
      return loading
    },
  }
}

/** Returns a stored picture and marks it as opened now. Null if the file is not a picture. */
async function readStored(path: string): Promise<StoredPicture | null> {
  const bytes = await readFile(path).catch(() => null)
  const type = bytes && pictureType(bytes)
  if (!type) return null
  const at = new Date()
  await utimes(path, at, at).catch(() => {})
  return { type, bytes: new Uint8Array(bytes) }
}

interface CachedFile {
  path: string
  size: number
  openedAt: number
}

async function filesIn(folder: string): Promise<CachedFile[]> {
  const names = await readdir(folder)
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      const { size, mtimeMs: openedAt } = await stat(path).catch(() => ({ size: 0, mtimeMs: 0 }))
      return { path, size, openedAt }
    }),
  )
  return files.sort((a, b) => a.openedAt - b.openedAt)
}

/** Deletes the oldest files until at most `maxBytes` are left. Returns the remaining number of bytes. */
async function evictOldest(folder: string, maxBytes: number): Promise<number> {
  const files = await filesIn(folder)
  let left = files.reduce((sum, { size }) => sum + size, 0)
  for (const { path, size } of files) {
    if (left <= maxBytes) break
    await rm(path, { force: true })
    left -= size
  }
  return left
}
