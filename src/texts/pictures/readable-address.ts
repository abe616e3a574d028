/** From a picture so wide the words of a caption are read, in a third of the time and memory that the largest takes. */
const SIDE = 1_080

/** The address of a store's picture in a size that is enough, as a JPEG; of any other host as it stands. */
export function readableAddress(address: string): string {
  const [, base, width, height] = APPLE.exec(address) ?? []
  if (base !== undefined) {
    const shorter = Math.min(Number(width), Number(height))
    const [wide, high] = [width, height].map((side) => Math.round((Number(side) * SIDE) / shorter))
    return `${base}/${wide}x${high}bb.jpg`
  }
  return GOOGLE.test(address) ? `${address.replace(/=[\w-]*$/, "")}=w${SIDE}-h${2 * SIDE}-rj` : address
}

// any size can be asked for, and the original is given where it is smaller
const APPLE = /^(https:\/\/[\w-]+\.mzstatic\.com\/.+)\/([1-9]\d{1,4})x([1-9]\d{1,4})bb\.(?:jpg|png|webp)$/
// without a size Google's answers are 512 pixels wide
const GOOGLE = /^https:\/\/[\w-]+\.googleusercontent\.com\/[^?#]+$/
