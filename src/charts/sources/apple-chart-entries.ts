import { withoutUndefined } from "../../lib/objects.ts"
import { isStoreId } from "../../lib/store-ids.ts"
import { at, text } from "../../measuring/parsing/json.ts"
import { fact, required } from "../../measuring/parsing/required.ts"
import type { ChartApp } from "../kinds/chart-shape.ts"

/**
 * Parses an app of the older feeds, where every fact is a `label` or in `attributes`. Throws ReadFailure (`changed`).
 */
export function feedApp(entry: unknown): ChartApp {
  const id = at(entry, "id", "attributes")
  const price = at(entry, "im:price", "attributes")
  return withoutUndefined<ChartApp>({
    id: required(at(id, "im:id"), storeId),
    name: required(at(entry, "im:name", "label"), text),
    icon: largestOf(at(entry, "im:image")),
    developer: fact(at(entry, "im:artist", "label"), text),
    developerId: developerIdOf(at(entry, "im:artist", "attributes", "href")),
    bundleId: fact(at(id, "im:bundleId"), text),
    price: fact(at(price, "amount"), amount),
    currency: fact(at(price, "currency"), currency),
    genre: fact(at(entry, "category", "attributes", "im:id"), genre),
  })
}

/** Parses an app of the newer feeds, which have no prices and currently no genres. Throws ReadFailure (`changed`). */
export function marketingApp(result: unknown): ChartApp {
  return withoutUndefined<ChartApp>({
    id: required(at(result, "id"), storeId),
    name: required(at(result, "name"), text),
    icon: fact(at(result, "artworkUrl100"), largeIcon),
    developer: fact(at(result, "artistName"), text),
  })
}

function storeId(value: unknown): string | undefined {
  return typeof value === "string" && isStoreId("ios", value) ? value : undefined
}

/** Returns the last image, which is the largest. A single image may not be in an array. */
function largestOf(images: unknown): string | undefined {
  return fact(at(Array.isArray(images) ? images.at(-1) : images, "label"), largeIcon)
}

/** Returns the address of the size that other sources use, so that an icon has the same address in every source. */
function largeIcon(value: unknown): string | undefined {
  const address = text(value)?.replace(/\/\d{2,4}x\d{2,4}bb(?:-\d{2})?\.(?:png|jpg|webp)$/, "/512x512bb.jpg")
  return address !== undefined && /^https?:\/\/[^{}\s]+$/.test(address) ? address : undefined
}

/** Returns the id in the address of the developer's page. Undefined for other addresses. */
function developerIdOf(address: unknown): string | undefined {
  return /\/id([1-9]\d{0,15})(?:[?#]|$)/.exec(text(address) ?? "")?.[1]
}

function amount(value: unknown): number | undefined {
  return typeof value === "string" && /^(?:0|[1-9]\d{0,8})(?:\.\d{1,5})?$/.test(value) ? Number(value) : undefined
}

function currency(value: unknown): string | undefined {
  return typeof value === "string" && /^[A-Z]{3}$/.test(value) ? value : undefined
}

function genre(value: unknown): string | undefined {
  return typeof value === "string" && /^[1-9]\d{0,5}$/.test(value) ? value : undefined
}
