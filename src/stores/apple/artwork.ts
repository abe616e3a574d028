import { text } from "../../measuring/parsing/json.ts"

// "https://…/AppIcon.png/{w}x{h}{c}.{f}", or with the crop filled in: "{w}x{h}bb.{f}"
const TEMPLATE = /^(https:\/\/[^{}\s]+)\/\{w\}x\{h\}(?:\{c\}|bb)\.\{f\}$/

/** The address of a picture of 512 × 512, from the template in which Apple's stores name it, or as it stands. */
export function artworkUrl(template: unknown): string | undefined {
  const address = text(template)?.replace(TEMPLATE, "$1/512x512bb.jpg")
  return address !== undefined && /^https:\/\/[^{}\s]+$/.test(address) ? address : undefined
}
