import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { loadTesseract, packagedEnglish, packagedWasm } from "../../../src/commands/process/pictures.ts"
import { linesOf } from "../../../src/texts/pictures/lines.ts"
import { type OcrThread, openOcrThread } from "../../../src/texts/pictures/ocr-thread.ts"
import { pictureSize } from "../../../src/texts/pictures/picture-size.ts"
import { errorOf } from "../../error-of.ts"
import { cases, slow } from "../../long.ts"
import { LEVEL } from "../../packaging/build.ts"
import captions from "./opentracks/captions.json"

setDefaultTimeout(60_000)

const screenshot = (n: number) =>
  new Uint8Array(readFileSync(join(import.meta.dirname, "opentracks", `${n}.jpg`))) as Uint8Array<ArrayBuffer>
const load = (names: readonly string[]) => loadTesseract(names)

const opened: OcrThread[] = []
afterAll(() => opened.forEach((reader) => void reader.stop()))

function threadOf(options: Partial<Parameters<typeof openOcrThread>[0]> = {}): OcrThread {
  const thread = openOcrThread({ load, ...options })
  opened.push(thread)
  return thread
}

// long runs read eight pictures with 65 words (opentracks/SOURCES.md)
const READ = cases(1, 8)

slow(`every caption word of ${READ} real screenshots is read in order, and any other word is a number`, async () => {
  const thread = threadOf()
  let words = 0
  for (const [at, lines] of captions.slice(0, READ).entries()) {
    const picture = screenshot(at + 1)
    const table = await thread.read(picture, ["eng"])
    const read = linesOf(table!, pictureSize(picture)!).lines
    expect(read.map(({ text }) => text).filter((text) => !/^[\d:.,]+$/.test(text))).toEqual(lines)
    for (const { x, y, width, height, confidence } of read) {
      expect([x + width <= 1_037, y + height <= 2_243, confidence >= 80]).toEqual([true, true, true])
    }
    words += lines.join(" ").split(" ").length
  }
  expect(words).toBe(READ === 8 ? 65 : 8)
})

slow("a file that is not a picture gives no text, and the next picture is read", async () => {
  const thread = threadOf()
  expect(await thread.read(new TextEncoder().encode("<html>"), ["eng"])).toBeNull()
  expect((await thread.read(screenshot(8).slice(0, 20_000), ["eng"])) ?? "").not.toContain("Dashboard")
  expect(await thread.read(screenshot(8), ["eng"])).toContain("Dashboard")
})

slow("a picture with 1.6 GB of pixels is abandoned before it takes 300 MB, and the next one is read", async () => {
  const thread = threadOf({ deadlineMs: 50_000 })
  const bomb = screenshot(8)
  const frame = bomb.findIndex((byte, at) => byte === 0xff && [0xc0, 0xc2].includes(bomb[at + 1]!))
  new DataView(bomb.buffer).setUint32(frame + 5, (20_000 << 16) | 20_000)
  const before = process.memoryUsage.rss()
  let most = 0
  const measuring = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss() - before)
  }, 5)
  const began = performance.now()
  expect(await thread.read(bomb, ["eng"])).toBeNull()
  clearInterval(measuring)
  expect(most).toBeLessThan(300e6)
  expect(performance.now() - began).toBeLessThan(30_000)
  expect(await thread.read(screenshot(8), ["eng"])).toContain("Dashboard")
})

test("a picture that takes too long ends its thread, and a thread cannot start without Tesseract's files", async () => {
  const picture = screenshot(8)
  const slow = threadOf({ deadlineMs: 1 })
  expect(await slow.read(picture, ["eng"])).toBeNull()
  const broken = threadOf({ load: async () => Promise.reject(new Error("no files")) })
  expect(String(await errorOf(broken.read(picture, ["eng"])))).toMatch("no files")
})

slow("the OCR files that a binary contains are smaller than 8 MB", () => {
  const carried = [packagedWasm(), packagedEnglish()].map(
    (bytes) => Bun.zstdCompressSync(bytes, { level: LEVEL }).length,
  )
  expect(carried[0]! + carried[1]!).toBeWithin(1e6, 8e6)
})
