import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { gunzipSync } from "node:zlib"
import type { Sql } from "../../database/types.ts"
import type { Log } from "../../lib/log.ts"
import { BASE_GAPS_MS, openLane, takeTurn } from "../../measuring/pace.ts"
import type { SafeFetch } from "../../outbound/safe-fetch.ts"
import type { Settings } from "../../settings/settings.ts"
import { openOcrThread, type TesseractFiles } from "../../texts/pictures/ocr-thread.ts"
import { openPictures, type PictureReader } from "../../texts/pictures/read-pictures.ts"
import { ENGLISH } from "../../texts/pictures/trained-data.ts"
import { guardedFetch } from "./guarded-fetch.ts"

/** Names of Tesseract's files inside the binary. */
export const OCR_FILES = { wasm: "tesseract-core-simd-lstm.wasm", english: "eng.traineddata" } as const

interface PictureAccess {
  sql: Sql
  log: Log
  outbound?: SafeFetch
}

/** Creates the picture reader from the settings. With MEASURE=no it reads no pictures. */
export function openPictureReading(settings: Settings, { sql, log, outbound }: PictureAccess): PictureReader {
  const { ocrData, measuring, allowPrivateTargets } = settings
  const { egress, gapsMs } = measuring
  const lane = { upstream: "store-pictures", egress } as const
  const gapMs = new Map<string, number>([...BASE_GAPS_MS, ...gapsMs]).get(lane.upstream) as number
  let opened: Promise<void> | undefined
  return openPictures({
    sql,
    log,
    data: new Set([ENGLISH, ...trainedIn(ocrData)]),
    ocr: measuring.on ? openOcrThread({ load: (names) => loadTesseract(names, ocrData) }) : null,
    fetch: outbound ?? guardedFetch(allowPrivateTargets),
    async turn(signal) {
      opened ??= openLane(sql, lane, gapMs)
      await opened
      await takeTurn(sql, lane, { withinMs: TURN_MS, live: true, signal })
    },
  })
}

const TURN_MS = 15_000

/** Returns the names of trained data in a folder. Empty if it cannot be read. */
export function trainedIn(folder: string | undefined): string[] {
  if (folder === undefined) return []
  try {
    return readdirSync(folder).flatMap((name) => /^(\w+)\.traineddata$/.exec(name)?.[1] ?? [])
  } catch {
    return []
  }
}

/** Loads Tesseract. The operator's folder has priority over the included English data. */
export async function loadTesseract(names: readonly string[], folder?: string): Promise<TesseractFiles> {
  const inFolder = new Set(trainedIn(folder))
  const english = async () => (await carriedFile(OCR_FILES.english)) ?? packagedEnglish()
  const bytesOf = async (name: string) =>
    inFolder.has(name) ? readFileSync(join(folder as string, `${name}.traineddata`)) : await english()
  return {
    wasm: (await carriedFile(OCR_FILES.wasm)) ?? packagedWasm(),
    data: await Promise.all(names.map(async (name) => ({ name, bytes: new Uint8Array(await bytesOf(name)) }))),
  }
}

async function carriedFile(name: string): Promise<Uint8Array | null> {
  const { carried } = await import("../../database/embedded/engine.ts")
  return carried(name)
}

export function packagedWasm(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(join(packageOf("tesseract.js-core"), OCR_FILES.wasm)))
}

export function packagedEnglish(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(
    gunzipSync(readFileSync(join(packageOf("@tesseract.js-data/eng"), "4.0.0_best_int/eng.traineddata.gz"))),
  )
}

function packageOf(name: string): string {
  return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
}
