/** Returns the size of a PNG or JPEG from its header, without decoding it. Null for any other format. */
export function pictureSize(bytes: Uint8Array): { width: number; height: number } | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (PNG.every((byte, at) => bytes[at] === byte) && bytes.length >= 24)
    return { width: view.getUint32(16), height: view.getUint32(20) }
  return bytes[0] === 0xff && bytes[1] === 0xd8 ? jpegSize(view) : null
}

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/**
 * Reads the segments of a JPEG up to its first scan. Skips fill bytes before a marker, as decoders do. Null if there
 * are two frames, since decoders differ in which one they use.
 */
function jpegSize(view: DataView): { width: number; height: number } | null {
  let found: { width: number; height: number } | null = null
  for (let at = 2; at + 9 < view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return null
    const marker = view.getUint8(at + 1)
    if (marker === START_OF_SCAN) return found
    if (marker === 0xff) {
      at++
    } else if (isStandalone(marker)) {
      at += 2
    } else {
      const length = view.getUint16(at + 2)
      if (length < 2 || (isFrame(marker) && found)) return null
      if (isFrame(marker)) found = { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
      at += 2 + length
    }
  }
  return found
}

const START_OF_SCAN = 0xda

/** Returns true for markers without a length: TEM, RST0 to RST7 and SOI. */
function isStandalone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)
}

/** Returns true for frame markers: C0 to CF, except the three tables among them. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
}
