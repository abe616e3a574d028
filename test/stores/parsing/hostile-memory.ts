// Runs as a separate process, because peak memory is known only per process. Prints [idle, peak] in MB.
import { readFileSync } from "node:fs"
import { parseAppAds } from "../../../src/listings/sources/app-ads.ts"
import { FLOODS, type HostileForm, LINES } from "./hostile.ts"
import { PARSED } from "./parsed.ts"

const about = { seenAt: new Date(), sha256: new Uint8Array(32) }
// One source per way to read a body.
const NAMES = ["apple-hints", "apple-reviews", "apple-store-search", "play-search", "play-suggest", "apple-app-page"]
const SOURCES = NAMES.map((name) => PARSED.find(({ source }) => source.name === name)!)
const MAX_BYTES = 4_000_000

const idle = megabytes("VmRSS")
for (const form of [...FLOODS, ...LINES]) {
  const text = textOf(form)
  for (const { source, subject } of SOURCES) {
    const body = source.maxBytes === undefined ? text : textOf(form, source.maxBytes)
    ended(() => source.parse(body, subject, about))
  }
  ended(() => parseAppAds(text.slice(0, 512_000)))
}
console.log(JSON.stringify([idle, megabytes("VmHWM")]))

function textOf(form: HostileForm, size = MAX_BYTES): string {
  return new TextDecoder().decode(Buffer.from(form.body(size)))
}

function ended(work: () => unknown): void {
  try {
    work()
  } catch {
    // The body is no valid answer.
  }
  // On a busy machine the collector runs late, which would add this reading to the next.
  Bun.gc(true)
}

function megabytes(name: string): number {
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1_024
}
