import { withoutUndefined } from "../../lib/objects.ts"
import { isStoreId } from "../../lib/store-ids.ts"
import { at, text } from "../../measuring/parsing/json.ts"
import { fact, required } from "../../measuring/parsing/required.ts"
import type { ChartApp } from "../kinds/chart-shape.ts"

/** An app of the older feeds, where every fact is a `label` or among `attributes`. Throws ReadFailure (`changed`). */
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

/** An app of the newer feeds, which have neither prices nor, at present, genres. Throws ReadFailure (`changed`). */
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

/** The last is the largest; a single one may stand by itself. */
function largestOf(images: unknown): string | undefined {
  return fact(at(Array.isArray(images) ? images.at(-1) : images, "label"), largeIcon)
}

/** The address of the size that other sources name, so that an icon is one whatever showed it. */
function largeIcon(value: unknown): string | undefined {
  const address = text(value)?.replace(/\/\d{2,4}x\d{2,4}bb(?:-\d{2})?\.(?:png|jpg|webp)$/, "/512x512bb.jpg")
  return address !== undefined && /^https?:\/\/[^{}\s]+$/.test(address) ? address : undefined
}

/** Of the address of the developer's page; undefined for one that leads elsewhere. */
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
