/** Some of all apps, a bit each, 32 a number: their ids have few gaps, and with 80,000 places a Set takes five times as long. */
export type AppBits = Int32Array

export function bitsOf(...some: readonly ArrayLike<number>[]): AppBits {
  const bits = emptyBits(some.reduce((most, apps) => Math.max(most, highestOf(apps)), 0))
  for (const apps of some) {
    // by index: with 80,000 apps iterators take most of the time
    for (let at = 0; at < apps.length; at++) {
      const app = apps[at]!
      bits[app >> 5]! |= 1 << app
    }
  }
  return bits
}

/** Those of the apps that are among some. */
export function bitsAmong(apps: ArrayLike<number>, some: AppBits): AppBits {
  const bits = new Int32Array(some.length)
  for (let at = 0; at < apps.length; at++) {
    const app = apps[at]!
    if (app >> 5 < some.length) bits[app >> 5]! |= some[app >> 5]! & (1 << app)
  }
  return bits
}

export function addBits(bits: AppBits, more: AppBits): void {
  const end = Math.min(bits.length, more.length)
  for (let at = 0; at < end; at++) bits[at]! |= more[at]!
}

/** How many there are of them, or of those that are among others; null = all. */
export function countBits(bits: AppBits, among: AppBits | null): number {
  let count = 0
  if (among === null)
    for (let at = 0; at < bits.length; at++) count += ONES[bits[at]! & 0xffff]! + ONES[bits[at]! >>> 16]!
  const end = among === null ? 0 : Math.min(bits.length, among.length)
  for (let at = 0; at < end; at++) {
    const both = bits[at]! & among![at]!
    count += ONES[both & 0xffff]! + ONES[both >>> 16]!
  }
  return count
}

/** How many some have together; of them those that are among `only` (null = all), and among `unsure`. */
export function countUnion(
  some: readonly AppBits[],
  highest: number,
  only: AppBits | null,
  unsure: AppBits | null,
): { count: number; unsure: number } {
  if (some.length === 1) return { count: countBits(some[0]!, only), unsure: unsure ? countBits(some[0]!, unsure) : 0 }
  const counts = { count: 0, unsure: 0 }
  const words = (highest >> 5) + 1
  const [own, others] = [only ?? NONE, unsure ?? NONE]
  // five at once, without a stop for each
  const [a = NONE, b = NONE, c = NONE, d = NONE, e = NONE, ...more] = some
  for (let at = 0; at < words; at++) {
    let all = wordAt(a, at) | wordAt(b, at) | wordAt(c, at) | wordAt(d, at) | wordAt(e, at)
    for (let one = 0; one < more.length; one++) all |= wordAt(more[one]!, at)
    const both = only === null ? all : all & wordAt(own, at)
    counts.count += ONES[both & 0xffff]! + ONES[both >>> 16]!
    if (unsure === null) continue
    const maybe = all & wordAt(others, at)
    counts.unsure += ONES[maybe & 0xffff]! + ONES[maybe >>> 16]!
  }
  return counts
}

const NONE: AppBits = new Int32Array(0)

function wordAt(bits: AppBits, at: number): number {
  return at < bits.length ? bits[at]! : 0
}

/** Of numbers of 16 bits. */
const ONES = new Uint8Array(0x1_0000)
for (let i = 1; i < ONES.length; i++) ONES[i] = ONES[i >> 1]! + (i & 1)

function highestOf(apps: ArrayLike<number>): number {
  let highest = 0
  for (let at = 0; at < apps.length; at++) if (apps[at]! > highest) highest = apps[at]!
  return highest
}

/** Room for ids up to that one. */
export function emptyBits(highest: number): AppBits {
  return new Int32Array((highest >> 5) + 1)
}

/** Room for a copy of bits up to that id, made once for all copies: who takes one is done with it before another is taken. */
export function createBitRoom(): (highest: number, of: AppBits | "all" | "none") => AppBits {
  let room = emptyBits(0)
  return (highest, of) => {
    const length = (highest >> 5) + 1
    if (room.length < length) room = emptyBits(highest)
    const copy = room.subarray(0, length)
    if (of === "all") return copy.fill(-1)
    copy.fill(0)
    if (of !== "none") copy.set(of.subarray(0, length))
    return copy
  }
}
