import { LISTING_LOCALES } from "../../lib/locales.ts"
import type { FieldRule } from "./field-text.ts"
import { FIELDS, type Field } from "./finding.ts"
import { APP_STORE_RULES } from "./report.ts"

export type MetadataStore = "ios" | "android"

/** The contents and rule of a text file. */
export type FileRule =
  | { is: "field"; field: Field; rule: FieldRule }
  /** A text whose length alone is limited. */
  | { is: "text"; rule: FieldRule }
  | { is: "url"; label: string }
  /** Read by the upload, without a rule of its own. */
  | { is: "other" }

/** The layout of a store's folder of texts. */
export interface Layout {
  store: MetadataStore
  storeName: string
  /** Names of folders that are no locales but that the upload accepts. */
  otherFolders: readonly string[]
  locales: readonly string[]
  /** Names of a locale's files, without ".txt". The upload ignores all other files in the folder. */
  files: Readonly<Record<string, FileRule>>
  /** Texts for each version: a folder within the locale. */
  notes: (FieldRule & { folder: string }) | null
}

const field = (name: Field, rule: FieldRule): FileRule => ({ is: "field", field: name, rule })

const FILE_OF_FIELD: Readonly<Record<Field, string>> = {
  name: "name",
  subtitle: "subtitle",
  keywords: "keywords",
  promotionalText: "promotional_text",
  description: "description",
}

/** The folder of fastlane deliver. Source: docs.fastlane.tools/actions/upload_to_app_store, and its error texts. */
export const APP_STORE: Layout = {
  store: "ios",
  storeName: "the App Store",
  otherFolders: ["default", "appletv", "imessage", "review_information", "trade_representative_contact_information"],
  locales: LISTING_LOCALES,
  files: {
    ...Object.fromEntries(FIELDS.map((name) => [FILE_OF_FIELD[name], field(name, APP_STORE_RULES[name])])),
    release_notes: { is: "text", rule: { label: "release notes", limit: 4_000 } },
    support_url: { is: "url", label: "support URL" },
    marketing_url: { is: "url", label: "marketing URL" },
    privacy_url: { is: "url", label: "privacy policy URL" },
    apple_tv_privacy_policy: { is: "other" },
  },
  notes: null,
}

/** Google Play's locales. Source: support.google.com/googleplay/android-developer/answer/9844778. */
const PLAY_LOCALES = (
  "af sq am ar hy-AM az-AZ bn-BD eu-ES be bg my-MM ca zh-HK zh-CN zh-TW hr cs-CZ da-DK nl-NL en-IN en-SG en-ZA en-AU " +
  "en-CA en-GB en-US et fil fi-FI fr-CA fr-FR gl-ES ka-GE de-DE el-GR gu iw-IL hi-IN hu-HU is-IS id it-IT ja-JP " +
  "kn-IN kk km-KH ko-KR ky-KG lo-LA lv lt mk-MK ms ms-MY ml-IN mr-IN mn-MN ne-NP no-NO fa fa-AE fa-AF fa-IR pl-PL " +
  "pt-BR pt-PT pa ro rm ru-RU sr si-LK sk sl es-419 es-ES es-US sw sv-SE ta-IN te-IN th tr-TR uk ur vi zu"
).split(" ")

/** The limits of a Google Play listing. Source: support.google.com/googleplay/android-developer/answer/9859152. */
const PLAY_RULES = {
  name: { label: "title", limit: 30, minimum: 1 },
  subtitle: { label: "short description", limit: 80 },
  description: { label: "full description", limit: 4_000 },
} satisfies Partial<Record<Field, FieldRule>>

/** The folder of fastlane supply. Source: docs.fastlane.tools/actions/upload_to_play_store. */
export const GOOGLE_PLAY: Layout = {
  store: "android",
  storeName: "Google Play",
  otherFolders: [],
  locales: PLAY_LOCALES,
  files: {
    title: field("name", PLAY_RULES.name),
    short_description: field("subtitle", PLAY_RULES.subtitle),
    full_description: field("description", PLAY_RULES.description),
    video: { is: "url", label: "video URL" },
  },
  notes: { folder: "changelogs", label: "release notes", limit: 500 },
}
