import type { ResultApp, Screenshots } from "../../../core/observation/line-parts.ts"
import { appsOf, at, text } from "../../../measuring/parsing/json.ts"
import { ReadFailure } from "../../../measuring/source.ts"
import { lockupApp } from "../../../stores/apple/lockup.ts"

/** The sections of a page by the store's names. */
export type Shelves = Readonly<Record<string, unknown>>

/** Returns the items of a shelf. Undefined if the page lacks it. Throws ReadFailure when the shelf has no list. */
export function itemsOn(shelves: Shelves, name: string): readonly unknown[] | undefined {
  const shelf = at(shelves, name)
  if (shelf === undefined || shelf === null) return undefined
  const items = at(shelf, "items")
  if (!Array.isArray(items)) throw changed("a shelf without its list")
  return items
}

const changed = (detail: string) => new ReadFailure("changed", detail)

// Maximum number of apps, in case the page is hostile. No recorded row of recommendations is longer.
const MAX_APPS = 200

/** Returns the apps of a row of related apps, in page order. Other cards (bundles) are skipped. */
export function appsOn(shelves: Shelves, name: string): ResultApp[] | undefined {
  const items = itemsOn(shelves, name)
  if (items === undefined) return undefined
  const lockups = items.filter((item) => at(item, "$kind") === undefined || at(item, "$kind") === "Lockup")
  if (items.length > 0 && lockups.length === 0) throw changed("no card of a row is an app")
  return appsOf(lockups.map(appOf), MAX_APPS)
}

function appOf(lockup: unknown): ResultApp {
  const app = lockupApp(lockup)
  if (app === undefined) throw changed("an app without its id")
  return app
}

/** Returns the screenshots for phone and tablet. Undefined if the page shows none for either. */
export function screenshotsOf(shelves: Shelves): Screenshots | undefined {
  const phone = addressesOn(shelves, "product_media_phone_")
  const pad = addressesOn(shelves, "product_media_pad_")
  return phone || pad ? { ...(phone && { phone }), ...(pad && { pad }) } : undefined
}

/** Returns the pictures of a row of pictures and videos. */
function addressesOn(shelves: Shelves, name: string): string[] | undefined {
  const pictures = itemsOn(shelves, name)?.filter((item) => at(item, "screenshot") !== undefined)
  return pictures?.map((item) => pictureUrl(at(item, "screenshot")))
}

/**
 * Returns the URL of a screenshot in its own size. A replaced screenshot has another URL in the part before the size.
 */
function pictureUrl(picture: unknown): string {
  const [, base] = TEMPLATE.exec(text(at(picture, "template")) ?? "") ?? []
  const [width, height] = [at(picture, "width"), at(picture, "height")]
  if (base === undefined || !isSide(width) || !isSide(height)) throw changed("a screenshot of another shape")
  return `${base}/${width}x${height}bb.jpg`
}

// "https://…/Screen.png/{w}x{h}{c}.{f}", or with the crop code included: "{w}x{h}bb.{f}"
const TEMPLATE = /^(https:\/\/[^{}\s]+)\/\{w\}x\{h\}(?:\{c\}|bb)\.\{f\}$/

function isSide(pixels: unknown): pixels is number {
  return Number.isInteger(pixels) && (pixels as number) > 0 && (pixels as number) < 100_000
}
