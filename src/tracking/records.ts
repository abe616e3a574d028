import type { Fragment } from "postgres"
import type { Platform } from "../core/observation/provenance.ts"
import type { TrackedApp } from "../core/tracked-app.ts"
import type { Sql } from "../database/types.ts"
import { type SearchText, translationFor } from "../lib/matching.ts"
import { appPage } from "../lib/store-pages.ts"

/** A result of search with its grade; the lowest grade is the best match. */
export interface RecordMatch {
  grade: number
  id: string
  title: string
  url: string
  kind: "app" | "keyword" | "rival"
}

/** The answer of fetch. `text` may still have several lines. */
export interface RecordAnswer<Metadata> {
  id: string
  title: string
  url: string
  text: string
  metadata: Metadata
}

/** Returns an app's ids on its stores, in words. */
export function storesOf({ iosId, androidPkg }: TrackedApp): string {
  const ids = [iosId && `App Store id ${iosId}`, androidPkg && `Google Play package ${androidPkg}`]
  return ids.filter((id) => id !== null).join(", ")
}

/** Returns the store whose ranks are shown for an app's keywords: the App Store if the app is in it. */
export function platformOf({ iosApp }: TrackedApp): Platform {
  return iosApp === null ? "android" : "ios"
}

/** Returns the address of the app's page in its first storefront. */
export function appAddress(app: TrackedApp): string {
  return appPage(platformOf(app), (app.iosId ?? app.androidPkg) as string, app.countries[0])
}

/** Returns SQL that spells a text like foldText, as far as the search words need it, in the "C" collation. */
export function folded(sql: Sql, text: Fragment, search: SearchText) {
  const { from, to } = translationFor(search)
  // stored keywords are in NFC, names in the store's spelling
  const composed = /^[\0-\x7f]*$/.test(search.text) ? text : sql`normalize(${text}, nfc)`
  const translated = from === "" ? composed : sql`translate(${composed}, ${from}, ${to})`
  return sql`lower((${translated}) collate "C")`
}

/** Returns the search words as patterns of "like", with wildcards escaped. */
export function patternsOf({ words }: SearchText): string[] {
  return words.map((word) => `%${word.replaceAll(/[\\%_]/g, "\\$&")}%`)
}
