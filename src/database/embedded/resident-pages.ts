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
