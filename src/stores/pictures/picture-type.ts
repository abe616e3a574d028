export type PictureType = "image/png" | "image/jpeg" | "image/webp"

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const JPEG = [0xff, 0xd8, 0xff]

/**
 * Returns the type of a picture by its first bytes, whatever the host claims. Null for anything else, such as SVG or
 * HTML.
 */
export function pictureType(bytes: Uint8Array): PictureType | null {
  if (beginsWith(bytes, PNG)) return "image/png"
  if (beginsWith(bytes, JPEG)) return "image/jpeg"
  const name = String.fromCharCode(...bytes.subarray(0, 4), ...bytes.subarray(8, 12))
  return name === "RIFFWEBP" ? "image/webp" : null
}

function beginsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, at) => bytes[at] === byte)
}
