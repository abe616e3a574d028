import { hash } from "node:crypto"
import type { Sql } from "../../database/types.ts"
import type { Log } from "../../lib/log.ts"
import type { PictureQuestion, PictureState, PictureText, ReadPictures } from "../../lib/writing/picture-text.ts"
import type { WritingState } from "../../lib/writing/written-text.ts"
import { OutboundProblem } from "../../outbound/problem.ts"
import type { SafeFetch } from "../../outbound/safe-fetch.ts"
import { createOnce } from "../port/once.ts"
import type { WritingResult } from "../port/write-once.ts"
import { linesOf } from "./lines.ts"
import type { OcrThread } from "./ocr-thread.ts"
import { pictureSize } from "./picture-size.ts"
import { dataFor, dataNameOf } from "./trained-data.ts"

export interface PictureParts {
  sql: Sql
  log: Log
  /** Null if OCR is off. Stored results are still returned. */
  ocr: OcrThread | null
  /** Names of the available trained data. */
  data: ReadonlySet<string>
  fetch: SafeFetch
  /** Resolves when the picture may be requested. Rejects if the turn would come too late. */
  turn(signal: AbortSignal): Promise<void>
  pollMs?: number
}

export interface PictureReader {
  read: ReadPictures
  stop(): Promise<void>
}

/** Version of the OCR. Raise it when the OCR changes, because another version may find other words. */
const PICTURES_VERSION = 1
const BY = "tesseract"

const MAX_BYTES = 6_000_000
/** Maximum number of pixels. Decoding takes about ten bytes per pixel, so at most 90 MB. */
const MAX_PIXELS = 9_000_000

interface PictureTask {
  kind: "picture"
  digest: string
  address: string
  data: readonly string[]
}

/** The stored result of a picture. A picture that was unreadable is not requested again. */
type StoredPicture = { text: PictureText } | { broken: "unreadable" }

/** Reads each picture once for all callers, one picture after another, and stores the result by address. */
export function openPictures(parts: PictureParts): PictureReader {
  const { ocr, data, log } = parts
  const make = async (task: PictureTask, signal: AbortSignal): Promise<WritingResult> => {
    try {
      return await readPicture(task, { ...parts, ocr: ocr! }, signal)
    } catch (error) {
      signal.throwIfAborted()
      log("warn", "picture_read_failed", { reason: (error as Error).message })
      return { done: false, why: "off" }
    }
  }
  const once = createOnce(parts, 1, make)
  const taskOf = ({ address, locales }: PictureQuestion): PictureTask => {
    const read = dataFor(locales, data)
    return { kind: "picture", digest: hash("sha256", `${read.join("+")} ${address}`), address, data: read }
  }
  const read = async (pictures: readonly PictureQuestion[], waitMs: number): Promise<PictureState[]> => {
    if (!ocr) return (await find(pictures)).map((cached) => cached ?? { state: "off" })
    return await Promise.all(pictures.map(async (picture) => stateOf(await once.get(taskOf(picture), waitMs))))
  }
  const find = async (pictures: readonly PictureQuestion[]) =>
    await Promise.all(
      pictures.map(async (picture) => {
        const stored = await once.find(taskOf(picture))
        return stored?.state === "done" ? stateOf(stored) : null
      }),
    )
  const unread = <Locale extends string>(locales: readonly Locale[]) =>
    locales.filter((locale) => !data.has(dataNameOf(locale) ?? ""))
  return {
    read: Object.assign(read, { find, unread }),
    async stop() {
      const stopped = once.stop()
      ocr?.stop()
      await stopped
    },
  }
}

function stateOf(state: WritingState<unknown>): PictureState {
  if (state.state === "pending") return { state: "pending" }
  if (state.state === "failed") return state.why === "off" ? { state: "off" } : { state: "broken", why: "unreachable" }
  const { value, at, version, model: by } = state
  const stored = value as StoredPicture
  return "text" in stored
    ? { state: "read", text: stored.text, at, version, by }
    : { state: "broken", why: stored.broken }
}

/** Throws if the thread cannot start or the signal aborts. */
async function readPicture(
  { address, data }: PictureTask,
  { ocr, fetch, turn, log }: PictureParts & { ocr: OcrThread },
  signal: AbortSignal,
): Promise<WritingResult> {
  const bytes = await fetchPicture(address, { fetch, turn, log }, signal)
  if (bytes === null) return { done: false, why: "busy" }
  const size = pictureSize(bytes)
  const isFit = size !== null && size.width > 0 && size.height > 0 && size.width * size.height <= MAX_PIXELS
  const table = isFit ? await ocr.read(bytes, data) : null
  signal.throwIfAborted()
  const value: StoredPicture = table === null ? { broken: "unreadable" } : { text: linesOf(table, size!) }
  return { done: true, value, dropped: [], model: BY, version: PICTURES_VERSION }
}

/**
 * Returns the bytes. Null if the picture is temporarily unavailable; empty if it is too large or its address is
 * invalid.
 */
async function fetchPicture(
  address: string,
  { fetch, turn, log }: Pick<PictureParts, "fetch" | "turn" | "log">,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  try {
    await turn(signal)
    const { status, bytes } = await fetch(readableAddress(address), {
      headers: { accept: "image/jpeg, image/png" },
      mostBytes: MAX_BYTES,
      signal,
    })
    return status === 200 ? bytes : null
  } catch (error) {
    signal.throwIfAborted()
    const { code, name } = error as Partial<OutboundProblem>
    log("info", "picture_unreachable", { reason: code ?? name ?? "unknown" })
    return error instanceof OutboundProblem && PERMANENT.has(error.code) ? new Uint8Array() : null
  }
}

const PERMANENT: ReadonlySet<OutboundProblem["code"]> = new Set(["too_large", "bad_address"])

/** Width in pixels at which captions are readable, in a third of the time and memory that the largest size takes. */
const SIDE = 1_080

/** Returns the address of a smaller JPEG of a store's picture. Addresses of other hosts are unchanged. */
export function readableAddress(address: string): string {
  const [, base, width, height] = APPLE.exec(address) ?? []
  if (base !== undefined) {
    const shorter = Math.min(Number(width), Number(height))
    const [wide, high] = [width, height].map((side) => Math.round((Number(side) * SIDE) / shorter))
    return `${base}/${wide}x${high}bb.jpg`
  }
  return GOOGLE.test(address) ? `${address.replace(/=[\w-]*$/, "")}=w${SIDE}-h${2 * SIDE}-rj` : address
}

// Apple's host returns any requested size, or the original if that is smaller
const APPLE = /^(https:\/\/[\w-]+\.mzstatic\.com\/.+)\/([1-9]\d{1,4})x([1-9]\d{1,4})bb\.(?:jpg|png|webp)$/
// without a size Google's host returns pictures 512 pixels wide
const GOOGLE = /^https:\/\/[\w-]+\.googleusercontent\.com\/[^?#]+$/
