/** The hosts of the stores' pictures. No other host gets a request, whatever a store page contains. */
const APPLE_HOST = /^is[1-9]-ssl\.mzstatic\.com$/
const GOOGLE_HOST = "play-lh.googleusercontent.com"

const MAX_LENGTH = 1_000

/** Returns true if the URL is that of a store's picture and has no part that could lead elsewhere. */
export function isPictureAddress(address: string): boolean {
  const url = address.length > MAX_LENGTH ? null : URL.parse(address)
  if (!url || url.href !== address || url.protocol !== "https:" || url.port !== "") return false
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return false
  return APPLE_HOST.test(url.hostname) || url.hostname === GOOGLE_HOST
}

/** Returns the address of a picture at most this wide, and three times as high. Null for any other host. */
export function sizedPicture(address: string, width: number): string | null {
  if (!isPictureAddress(address)) return null
  const [, base] = /^(.+)\/\d+x\d+bb[\w-]*\.(?:jpg|png|webp)$/.exec(address) ?? []
  if (base !== undefined) return `${base}/${width}x${3 * width}bb.jpg`
  if (!address.startsWith(`https://${GOOGLE_HOST}/`)) return address
  return `${address.replace(/=[\w-]*$/, "")}=w${width}-h${3 * width}`
}
