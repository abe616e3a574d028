import { Buffer } from "node:buffer"
import { promisify } from "node:util"
import { crc32, inflateRaw } from "node:zlib"
import { ReadFailure } from "../../measuring/source.ts"

interface UnzipLimits {
  /** Maximum size of the unpacked file in bytes. */
  bytes: number
  /** Maximum ratio of the unpacked to the packed size. Small files are exempt. */
  ratio: number
}

/**
 * A month of 300,000 transactions has about 90 MB. Text tables are packed to a tenth of their size, rarely to a
 * fiftieth.
 */
const LIMITS: UnzipLimits = { bytes: 96_000_000, ratio: 200 }
const EXEMPT_BYTES = 1_000_000

const END = 0x06054b50
const CENTRAL = 0x02014b50
const LOCAL = 0x04034b50
const END_BYTES = 22
const MAX_COMMENT = 65_535
const STORED = 0
const DEFLATED = 8
const IS_ENCRYPTED = 1
/** This value of a size or an offset means that the true value is in the extension for archives of more than 4 GB. */
const ZIP64 = 0xffffffff

const unpack = promisify(inflateRaw) as (packed: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>

/**
 * Returns the content of the only file in the archive. Libraries read any archive and trust the sizes in it; this
 * function accepts what Google Play Console makes, and refuses everything else before it unpacks. The file's name is
 * ignored, so a path in it has no effect. Throws ReadFailure for an archive with another number of files, an encrypted
 * file, an archive within the archive, a file over the limits, or a damaged archive.
 */
export async function unzipped(archive: Uint8Array, limits: UnzipLimits = LIMITS): Promise<Uint8Array> {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength)
  const { packed, method, size, checksum } = onlyFileIn(bytes)
  const ratio = size / Math.max(packed.length, 1)
  if (size > limits.bytes) throw refused(`its file has ${size} bytes, and at most ${limits.bytes} are unpacked`)
  if (size > EXEMPT_BYTES && ratio > limits.ratio)
    throw refused(
      `its file is ${Math.round(ratio)} times larger than the archive; at most ${limits.ratio} times is allowed`,
    )
  const content = method === STORED ? packed : await inflated(packed, size)
  // The stated size limits the memory, so a wrong size is refused.
  if (content.length !== size) throw refused("the size of its file differs from the stated size")
  if (crc32(content) !== checksum) throw refused("its file is damaged: the checksum differs")
  if (content.length >= 4 && content.readUInt32LE(0) === LOCAL) throw refused("it contains another archive")
  return content
}

async function inflated(packed: Uint8Array, size: number): Promise<Buffer> {
  try {
    return await unpack(packed, { maxOutputLength: Math.max(size, 1) })
  } catch {
    throw refused("its file is damaged, or larger than it states")
  }
}

interface PackedFile {
  packed: Buffer
  method: number
  size: number
  checksum: number
}

/** Reads the directory at the end of the archive, because the sizes before the file itself may be missing. */
function onlyFileIn(bytes: Buffer): PackedFile {
  const end = endOf(bytes)
  const count = bytes.readUInt16LE(end + 10)
  if (bytes.readUInt32LE(end + 4) !== 0) throw refused("it is a part of a split archive")
  if (count !== 1) throw refused(`it has ${count} files instead of one`)
  const at = bytes.readUInt32LE(end + 16)
  if (at + 46 > end || bytes.readUInt32LE(at) !== CENTRAL) throw refused("its directory is damaged")
  const [flags, method] = [bytes.readUInt16LE(at + 8), bytes.readUInt16LE(at + 10)]
  const [checksum, packedSize, size] = [16, 20, 24].map((place) => bytes.readUInt32LE(at + place)) as [
    number,
    number,
    number,
  ]
  const local = bytes.readUInt32LE(at + 42)
  if (flags & IS_ENCRYPTED) throw refused("its file is encrypted")
  if (method !== STORED && method !== DEFLATED) throw refused(`its file is packed by the unknown method ${method}`)
  if ([packedSize, size, local].includes(ZIP64)) throw refused("its file is too large")
  if (local + 30 > at || bytes.readUInt32LE(local) !== LOCAL) throw refused("its file is not where the directory says")
  const from = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
  if (from + packedSize > at) throw refused("its file is cut off")
  return { packed: bytes.subarray(from, from + packedSize), method, size, checksum }
}

/** Returns the position of the end record, which may be followed by a comment. */
function endOf(bytes: Buffer): number {
  const last = bytes.length - END_BYTES
  for (let at = last; at >= 0 && at >= last - MAX_COMMENT; at--)
    if (bytes.readUInt32LE(at) === END && at + END_BYTES + bytes.readUInt16LE(at + 20) === bytes.length) return at
  throw refused("it is not a zip archive, or it is cut off")
}

function refused(why: string): ReadFailure {
  return new ReadFailure("changed", `the archive is refused: ${why}`)
}
