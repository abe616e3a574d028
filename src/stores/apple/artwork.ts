import { text } from "../../measuring/parsing/json.ts"

// "https://…/AppIcon.png/{w}x{h}{c}.{f}", or with the crop code included: "{w}x{h}bb.{f}"
const TEMPLATE = /^(https:\/\/[^{}\s]+)\/\{w\}x\{h\}(?:\{c\}|bb)\.\{f\}$/

/** Returns the URL of a 512 × 512 picture from one of Apple's URL templates. A complete URL is returned unchanged. */
export function artworkUrl(template: unknown): string | undefined {
  const address = text(template)?.replace(TEMPLATE, "$1/512x512bb.jpg")
  return address !== undefined && /^https:\/\/[^{}\s]+$/.test(address) ? address : undefined
}
