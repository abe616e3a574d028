import { dlopen, FFIType, ptr } from "bun:ffi"
import { readFileSync } from "node:fs"

const PAGE = 4_096
const MADV_DONTNEED = 4

// glibc's name, and musl's
const LIBRARIES = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]

/**
 * Gives the system back the pages of `memory` that hold nothing but zeros; each comes anew, of zeros, where it is next touched.
 * PostgreSQL's shared memory is filled with zeros while it opens: 38 MB of which little is used yet. Gives the number of bytes; none
 * where the system is not Linux or cannot be asked.
 */
export function discardZeroPages(memory: ArrayBufferLike): number {
  const library = process.platform === "linux" ? openLibrary() : null
  if (!library) return 0
  const { symbols, close } = library
  const bytes = Buffer.from(memory)
  const start = ptr(bytes)
  const resident = new Uint8Array(Math.floor(bytes.length / PAGE))
  let discarded = 0
  if (start % PAGE === 0 && symbols.mincore(start, resident.length * PAGE, resident) === 0) {
    for (const [from, to] of zeroRuns(bytes, resident)) {
      if (symbols.madvise(start + from, to - from, MADV_DONTNEED) === 0) discarded += to - from
    }
  }
  close()
  return discarded
}

/** PostgreSQL's memory, and how it is had. */
export interface Heap {
  HEAPU8: Uint8Array
  _malloc(size: number): number
  _free(at: number): void
}

/** In which pieces what is free is looked for. */
const PIECES = [2 ** 20, 2 ** 18, 2 ** 16, 2 ** 14]
/** Of the end nothing is asked for: it would grow, and may move. */
const END = 2 ** 24

/**
 * Gives the system back what PostgreSQL has freed: it is asked for once more, piece by piece until some come that were never used,
 * and freed again. A sort or an import leaves some 10 MB so. Gives the number of bytes; none as above.
 */
export function discardFreePages(heap: Heap): number {
  const library = process.platform === "linux" ? openLibrary() : null
  if (!library) return 0
  const { symbols, close } = library
  const { HEAPU8: bytes } = heap
  const start = ptr(bytes)
  const held: number[] = []
  let discarded = 0
  for (const size of PIECES) {
    const resident = new Uint8Array(size / PAGE)
    for (let unused = 0; unused < 4; ) {
      const at = heap._malloc(size)
      if (at === 0) break
      held.push(at)
      if (heap.HEAPU8 !== bytes || at + size > bytes.length - END) break
      const from = Math.ceil(at / PAGE) * PAGE
      const length = Math.floor((at + size) / PAGE) * PAGE - from
      resident.fill(0)
      if (symbols.mincore(start + from, length, resident) !== 0) break
      const there = resident.reduce((count, page) => count + (page % 2), 0)
      unused = there === 0 ? unused + 1 : 0
      if (there > 0 && symbols.madvise(start + from, length, MADV_DONTNEED) === 0) discarded += there * PAGE
    }
    if (heap.HEAPU8 !== bytes) break
  }
  for (const at of held) heap._free(at)
  close()
  return discarded
}

/**
 * Gives the system back the pages of the program's own file and of its libraries, which a start has run through. They stay in the
 * system's cache, so what is used again is there again at a touch: calls after it take no more of the processor. Where a page was
 * written to, its mapping is left alone. Gives the number of bytes mapped; none as above.
 */
export function discardProgramPages(): number {
  const library = process.platform === "linux" ? openLibrary() : null
  if (!library) return 0
  const { symbols, close } = library
  let discarded = 0
  for (const [, from, to, file] of readFileSync("/proc/self/smaps", "utf8").matchAll(UNWRITTEN)) {
    // these stay mapped where they are; where another file was, memory may be by now
    if (file !== process.execPath && !IS_LIBRARY.test(file!)) continue
    const [start, end] = [Number.parseInt(from!, 16), Number.parseInt(to!, 16)]
    if (symbols.madvise(start, end - start, MADV_DONTNEED) === 0) discarded += end - start
  }
  close()
  return discarded
}

/** Of a file, not to be written to, and without a page that was before that. Only the first line of a mapping begins in lower case. */
const UNWRITTEN = /^([0-9a-f]+)-([0-9a-f]+) r-[-x]p .* (\/.*)\n(?:[A-Z].*\n)*?Anonymous: +0 kB$/gm
const IS_LIBRARY = /\.so(\.[\d.]+)?$/

function openLibrary() {
  for (const name of LIBRARIES) {
    try {
      return dlopen(name, {
        madvise: { args: [FFIType.u64, FFIType.u64, FFIType.i32], returns: FFIType.i32 },
        mincore: { args: [FFIType.u64, FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
      })
    } catch {}
  }
  return null
}

const ZEROS = Buffer.alloc(PAGE)

/** From and to, in bytes. A page that is not there is not looked at: the look would bring it. */
function* zeroRuns(bytes: Buffer, resident: Uint8Array): Generator<[number, number]> {
  let from = -1
  for (let page = 0; page <= resident.length; page++) {
    const at = page * PAGE
    const isZero = (resident[page] ?? 0) % 2 === 1 && ZEROS.compare(bytes, at, at + PAGE) === 0
    if (isZero && from < 0) from = at
    if (isZero || from < 0) continue
    yield [from, at]
    from = -1
  }
}
