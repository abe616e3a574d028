/** Width that is enough to read captions, in a third of the time and memory of the largest size. */
const SIDE = 1_080

/** Returns the address of a smaller JPEG of a store's picture. Addresses of other hosts are unchanged. */
export function readableAddress(address: string): string {
  const [, base, width, height] = APPLE.exec(address) ?? []
  if (base !== undefined) {
    const shorter = Math.min(Number(width), Number(height))
    const [wide, high] = [width, height].map((side) => Math.round((Number(side) * SIDE) / shorter))
    return `${base}/${wide}x${high}bb.jpg`
  }
  return GOOGLE.test(address) ? `${address.replace(/=[\w-]*$/, "")}=w${SIDE}-h${2 * SIDE}-rj` : address
}

// Apple's host returns any requested size, or the original if that is smaller
const APPLE = /^(https:\/\/[\w-]+\.mzstatic\.com\/.+)\/([1-9]\d{1,4})x([1-9]\d{1,4})bb\.(?:jpg|png|webp)$/
// without a size Google's host returns pictures 512 pixels wide
const GOOGLE = /^https:\/\/[\w-]+\.googleusercontent\.com\/[^?#]+$/
