import { withoutUndefined } from "../../../lib/objects.ts"
import { at, list, text } from "../../../measuring/parsing/json.ts"
import { fact, required } from "../../../measuring/parsing/required.ts"
import { ReadFailure } from "../../../measuring/source.ts"
import type { InAppPurchase, Listing } from "../../../stores/kinds/listing-shape.ts"
import { itemsOn, type Shelves } from "./shelves.ts"
import { isTitled } from "./titles.ts"

/** A row of the page's information section. */
export interface InformationRow {
  title: string | undefined
  /** "English and 3 more". */
  summary: string | undefined
  lines: { heading: string | undefined; text: string }[]
  /** Names with their prices. */
  pairs: InAppPurchase[]
}

/**
 * Returns the rows of the page's information. Undefined if there are none. Texts are in `items`; pairs are in
 * `items_V3` or, on older pages, next to the texts (both are recorded).
 */
export function rowsOf(shelves: Shelves): InformationRow[] | undefined {
  return itemsOn(shelves, "information")?.map((row) => {
    if (typeof row !== "object" || row === null) throw new ReadFailure("changed", "a row of another shape")
    const items = list(at(row, "items"))
    const newer = list(at(row, "items_V3")).filter((item) => at(item, "$kind") === "textPair")
    return {
      title: fact(at(row, "title"), text),
      summary: fact(at(row, "summary"), text),
      lines: items.flatMap(lineOf),
      pairs:
        newer.length > 0 ? newer.map(newerPair) : items.flatMap((item) => list(at(item, "textPairs")).map(olderPair)),
    }
  })
}

function lineOf(item: unknown): InformationRow["lines"] {
  const line = fact(at(item, "text"), text)
  return line === undefined ? [] : [{ heading: fact(at(item, "heading"), text), text: line }]
}

function newerPair(item: unknown): InAppPurchase {
  return pair(at(item, "leadingText"), at(item, "trailingText"))
}

function olderPair(item: unknown): InAppPurchase {
  return pair(at(item, 0), at(item, 1))
}

function pair(name: unknown, price: unknown): InAppPurchase {
  return withoutUndefined<InAppPurchase>({ name: required(name, text), price: fact(price, text) })
}

type InformationFields = Pick<Listing, "size" | "minimumOs" | "ageRating" | "languages" | "category">

/** Returns the facts in the rows. The age rating is taken from the ribbon above the rows if the ribbon has one. */
export function informationOf(rows: readonly InformationRow[], shelves: Shelves): InformationFields {
  return withoutUndefined<InformationFields>({
    size: only(rows.flatMap(textsOf).filter((line) => SIZE.test(line))),
    minimumOs: minimumOsOf(rows),
    ageRating: ribbonAge(shelves) ?? only(rows.flatMap(textsOf).filter((line) => AGE.test(line))),
    languages: languagesOf(rows),
    category: only(rows.filter(({ title }) => isTitled(title, "category")).flatMap((row) => textsOf(row).slice(0, 1))),
  })
}

function textsOf({ lines, summary }: InformationRow): string[] {
  return [...lines.map((line) => line.text), ...(summary === undefined ? [] : [summary])]
}

// "245.3 MB", "1,2 Go", "245.3 МБ": no other text on the page consists of just a number and such a unit.
const SIZE = /^\d[\d.,\s'’]{0,14}\s?(?:bytes|[kKMG]i?[BbOoTt]|[КкМГ]Б)$/u
const AGE = /^\d{1,2}\+$/

/** Returns the text that all items share. Undefined if there are no items or their texts differ. */
function only(texts: readonly string[]): string | undefined {
  return new Set(texts).size === 1 ? texts[0] : undefined
}

/** Parses "Requires iOS 15.0 or later." in any language, from the line for the iPhone. */
function minimumOsOf(rows: readonly InformationRow[]): string | undefined {
  const lines = rows
    .flatMap((row) => row.lines)
    .filter((line) => `${line.heading ?? ""} ${line.text}`.includes("iPhone"))
  return only(lines.flatMap((line) => OS.exec(line.text)?.[1] ?? []))
}

const OS = /\biOS\s?(\d{1,2}(?:\.\d{1,2}){0,2})/

/** Returns the age rating of the ribbon. Its badges have a type, whatever the page's language. */
function ribbonAge(shelves: Shelves): string | undefined {
  const badge = itemsOn(shelves, "informationRibbon")?.find((item) => at(item, "type") === "contentRating")
  return fact(at(badge, "content", "contentRating"), text)
}

function languagesOf(rows: readonly InformationRow[]): string[] | undefined {
  const row = rows.find(({ title }) => isTitled(title, "languages"))
  const names = row?.lines.flatMap((line) => line.text.split(/[,،、，]/)).map((name) => name.trim())
  return names && names.length > 0 ? [...new Set(names.filter((name) => name !== ""))] : undefined
}

/**
 * Returns the names and prices of in-app purchases, from the row with their title. If no row has that title but the
 * page states that the app sells any, uses the only row with prices. Undefined if there is no such row.
 */
export function purchasesOf(rows: readonly InformationRow[], sells: boolean | undefined): InAppPurchase[] | undefined {
  const priced = rows.filter(({ pairs }) => pairs.length > 0)
  const titled = priced.filter(({ title }) => isTitled(title, "purchases"))
  const [row, ...more] = titled.length > 0 ? titled : sells === true ? priced : []
  return more.length === 0 ? row?.pairs : undefined
}
