// A process of its own: what it takes at most can be told only of a whole process. Prints [idle, peak] in MB.
import { readFileSync } from "node:fs"
import { parseAppAds } from "../../src/sources/app-ads.ts"
import { FLOODS, LINES } from "./hostile.ts"
import { PARSED } from "./parsed.ts"

const about = { seenAt: new Date(), sha256: new Uint8Array(32) }
// one of each way to read a body
const NAMES = ["apple-hints", "apple-reviews", "apple-store-search", "play-search", "play-suggest", "apple-app-page"]
const SOURCES = NAMES.map((name) => PARSED.find(({ source }) => source.name === name)!)
const SIZE = 4_000_000

const idle = megabytes("VmRSS")
for (const form of [...FLOODS, ...LINES]) {
  const bytes = Buffer.from(form.body(SIZE))
  const text = new TextDecoder().decode(bytes)
  for (const { source, asked } of SOURCES) ended(() => source.parse(text, asked, about))
  ended(() => parseAppAds(text.slice(0, 512_000)))
}
console.log(JSON.stringify([idle, megabytes("VmHWM")]))

function ended(work: () => unknown): void {
  try {
    work()
  } catch {
    // it is no answer
  }
  // on a busy machine the collector comes late, and the next reading would be counted on top
  Bun.gc(true)
}

function megabytes(name: string): number {
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1_024
}
