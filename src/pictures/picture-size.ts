/** A PNG or JPEG by its head, in pixels; null = it is neither. Nothing is unpacked for it. */
export function pictureSize(bytes: Uint8Array): { width: number; height: number } | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (PNG.every((byte, at) => bytes[at] === byte) && bytes.length >= 24)
    return { width: view.getUint32(16), height: view.getUint32(20) }
  return bytes[0] === 0xff && bytes[1] === 0xd8 ? jpegSize(view) : null
}

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/** Segments of a JPEG, each with its length, up to the one that begins a frame. */
function jpegSize(view: DataView): { width: number; height: number } | null {
  for (let at = 2; at + 9 < view.byteLength; at += 2 + view.getUint16(at + 2)) {
    if (view.getUint8(at) !== 0xff) return null
    const marker = view.getUint8(at + 1)
    if (isFrame(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    if (view.getUint16(at + 2) < 2) return null
  }
  return null
}

/** C0 to CF, without the tables among them. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
}
