import { crc32, deflateRawSync } from "node:zlib"

interface ZipEntry {
  name: string
  content: Uint8Array
  /** Values in the archive's directory that differ from the true ones. */
  flags?: number
  method?: number
  size?: number
  checksum?: number
}

/** Returns a zip archive as Google makes it: compressed, with sizes only in the directory at the end. */
export function zipOf(...entries: ZipEntry[]): Uint8Array {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, content, flags = 8, method = 8, size = content.length, checksum = crc32(content) } of entries) {
    const packed = method === 0 ? Buffer.from(content) : deflateRawSync(content)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(flags, 6)
    local.writeUInt16LE(method, 8)
    local.writeUInt16LE(Buffer.byteLength(name), 26)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    central.writeUInt16LE(flags, 8)
    central.writeUInt16LE(method, 10)
    central.writeUInt32LE(checksum, 16)
    central.writeUInt32LE(packed.length, 20)
    central.writeUInt32LE(size, 24)
    central.writeUInt16LE(Buffer.byteLength(name), 28)
    central.writeUInt32LE(at, 42)
    const file = Buffer.concat([local, Buffer.from(name), packed])
    files.push(file)
    directory.push(central, Buffer.from(name))
    at += file.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...files, listed, end])
}
