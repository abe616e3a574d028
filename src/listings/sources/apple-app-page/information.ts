import { withoutUndefined } from "../../../lib/objects.ts"
import { at, list, text } from "../../../measuring/parsing/json.ts"
import { fact, required } from "../../../measuring/parsing/required.ts"
import { ReadFailure } from "../../../measuring/source.ts"
import type { InAppPurchase, Listing } from "../../../stores/kinds/listing-shape.ts"
import { itemsOn, type Shelves } from "./shelves.ts"
import { isTitled } from "./titles.ts"

/** One row of the page's information. */
export interface InformationRow {
  title: string | undefined
  /** "English and 3 more". */
  summary: string | undefined
  lines: { heading: string | undefined; text: string }[]
  /** Names with their prices. */
  pairs: InAppPurchase[]
}

/**
 * The rows of the page's information; undefined where it has none. A row's texts stand in `items`, and its pairs in
 * `items_V3` or, in older pages, beside its texts (both are recorded).
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

/** What the rows tell, and for the age rating the ribbon above them. */
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

// "245.3 MB", "1,2 Go", "245.3 МБ": nothing else on the page is a number with a unit of that kind alone
const SIZE = /^\d[\d.,\s'’]{0,14}\s?(?:bytes|[kKMG]i?[BbOoTt]|[КкМГ]Б)$/u
const AGE = /^\d{1,2}\+$/

/** The one text that all say; undefined where none or different ones are. */
function only(texts: readonly string[]): string | undefined {
  return new Set(texts).size === 1 ? texts[0] : undefined
}

/** "Requires iOS 15.0 or later." in any language, of the line for the iPhone. */
function minimumOsOf(rows: readonly InformationRow[]): string | undefined {
  const lines = rows
    .flatMap((row) => row.lines)
    .filter((line) => `${line.heading ?? ""} ${line.text}`.includes("iPhone"))
  return only(lines.flatMap((line) => OS.exec(line.text)?.[1] ?? []))
}

const OS = /\biOS\s?(\d{1,2}(?:\.\d{1,2}){0,2})/

/** The ribbon's badges name their kind, in whichever language the page is. */
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
 * The names and prices of what is sold within the app: of the row under their title, or of the one row with prices where
 * the page says that the app sells any. Undefined where no such row has any.
 */
export function purchasesOf(rows: readonly InformationRow[], sells: boolean | undefined): InAppPurchase[] | undefined {
  const priced = rows.filter(({ pairs }) => pairs.length > 0)
  const titled = priced.filter(({ title }) => isTitled(title, "purchases"))
  const [row, ...more] = titled.length > 0 ? titled : sells === true ? priced : []
  return more.length === 0 ? row?.pairs : undefined
}
