import type { Fragment } from "postgres"
import type { Platform } from "../core/observation/provenance.ts"
import type { TrackedApp } from "../core/tracked-app.ts"
import type { Sql } from "../database/types.ts"
import { type SearchText, translationFor } from "../lib/matching.ts"
import { appPage } from "../lib/store-pages.ts"

/** A result of search, with how well it matches: the lower the better. */
export interface RecordMatch {
  grade: number
  id: string
  title: string
  url: string
  kind: "app" | "keyword" | "rival"
}

/** What fetch answers, `text` not yet made one line. */
export interface RecordAnswer<Metadata> {
  id: string
  title: string
  url: string
  text: string
  metadata: Metadata
}

/** An app's ids on the stores it is in, in words. */
export function storesOf({ iosId, androidPkg }: TrackedApp): string {
  const ids = [iosId && `App Store id ${iosId}`, androidPkg && `Google Play package ${androidPkg}`]
  return ids.filter((id) => id !== null).join(", ")
}

/** The store of which an app's keywords are shown: the App Store where the app is in it. */
export function platformOf({ iosApp }: TrackedApp): Platform {
  return iosApp === null ? "android" : "ios"
}

/** The app's page in its first storefront. */
export function appAddress(app: TrackedApp): string {
  return appPage(platformOf(app), (app.iosId ?? app.androidPkg) as string, app.countries[0])
}

/** A text of the database as foldText spells it, as far as the sought words go; in the "C" collation. */
export function folded(sql: Sql, text: Fragment, sought: SearchText) {
  const { from, to } = translationFor(sought)
  // stored keywords are in NFC, names as the store gave them
  const composed = /^[\0-\x7f]*$/.test(sought.text) ? text : sql`normalize(${text}, nfc)`
  const translated = from === "" ? composed : sql`translate(${composed}, ${from}, ${to})`
  return sql`lower((${translated}) collate "C")`
}

/** The sought words as patterns of "like": their own wildcards stand for themselves. */
export function patternsOf({ words }: SearchText): string[] {
  return words.map((word) => `%${word.replaceAll(/[\\%_]/g, "\\$&")}%`)
}
