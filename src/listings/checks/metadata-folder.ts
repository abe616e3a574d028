import { languageOf, listingLocale } from "../../lib/locales.ts"
import { normalForm } from "../../lib/normal-form.ts"
import { nearest } from "../../lib/text.ts"
import { backgroundIn } from "./background.ts"
import { characters } from "./characters.ts"
import type { Code, Field, Severity } from "./finding.ts"
import { languages } from "./languages.ts"
import { lengths } from "./lengths.ts"
import type { Check } from "./listing.ts"
import { APP_STORE, type FileRule, GOOGLE_PLAY, type Layout, type MetadataStore } from "./metadata-fields.ts"
import { playCharacters, playTitles } from "./play-titles.ts"
import { CHECKS, countSeverities, listingOf, measured, runChecks, type Texts } from "./report.ts"
import { scripts } from "./scripts.ts"
import { spaces } from "./spaces.ts"

/** Codes of findings about files, in addition to those about texts. */
const FILE_CODES = {
  not_utf8: "the file is not UTF-8 text",
  unknown_locale: "the folder name is not a locale of the store",
  unknown_file: "the upload ignores a file of this name",
  bad_url: "not a web address",
} as const
type MetadataCode = Code | keyof typeof FILE_CODES

export interface MetadataFinding {
  store: MetadataStore
  /** The name of the locale's folder. */
  locale: string
  /** Path within the folder that was checked. */
  file: string
  /** Counted from 1, in lines and code points. Null for the file as a whole. */
  line: number | null
  column: number | null
  code: MetadataCode
  severity: Severity
  what: string
  message: string
}

interface CheckedListing {
  store: MetadataStore
  locale: string
  /** Length and limit of each field, in code points. */
  fields: Partial<Record<Field, { length: number; limit: number }>>
}

export interface CheckedMetadata {
  listings: CheckedListing[]
  findings: MetadataFinding[]
  counts: Record<Severity, number>
}

/** The app's and the developer's names in the store, which are never reported as other companies' names. */
interface OwnNames {
  name: string | null
  developer: string | null
}

/**
 * Checks every locale in a folder of texts: fastlane's layout of the App Store, its `android` folder, or the layout of
 * the Gradle Play publisher. Takes the text files by their paths within the folder, with "/" between the parts.
 */
export function checkMetadata(files: ReadonlyMap<string, Uint8Array>, names: OwnNames): CheckedMetadata {
  const listings: CheckedListing[] = []
  const findings: MetadataFinding[] = []
  for (const folder of localeFolders(files)) {
    const checked = checkLocale(folder, names)
    findings.push(...checked.findings)
    if (checked.listing) listings.push(checked.listing)
  }
  findings.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) || (a.line ?? 0) - (b.line ?? 0))
  return { listings, findings, counts: countSeverities(findings) }
}

/** Folders of Google Play's locales: within fastlane's folder, and of the Gradle Play publisher. */
const PLAY_FOLDER = /^(?:android|listings|release-notes)\//

interface LocaleFolder {
  layout: Layout
  /** The folder's name as written. */
  locale: string
  path: string
  files: { path: string /** Path within the locale's folder. */; name: string; bytes: Uint8Array }[]
}

function localeFolders(files: ReadonlyMap<string, Uint8Array>): LocaleFolder[] {
  const folders = new Map<string, LocaleFolder>()
  const isPlay = isPlayRoot([...files.keys()])
  for (const [path, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const base = PLAY_FOLDER.exec(path)?.[0] ?? ""
    const layout = base !== "" || isPlay ? GOOGLE_PLAY : APP_STORE
    const [locale = "", ...rest] = path.slice(base.length).split("/")
    // files next to the locale folders belong to the app, not to a listing
    if (rest.length === 0) continue
    const key = `${base}${locale}`
    const folder = folders.get(key) ?? { layout, locale, path: key, files: [] }
    folders.set(key, folder)
    const name = base === "release-notes/" ? `changelogs/${rest.join("/")}` : rest.join("/")
    folder.files.push({ path, name, bytes })
  }
  return [...folders.values()].filter(
    ({ layout, locale }) => locale.toLowerCase() === "default" || !layout.otherFolders.includes(locale.toLowerCase()),
  )
}

/** Returns whether the given folder itself has Google Play's locales, like `fastlane/metadata/android`. */
function isPlayRoot(paths: readonly string[]): boolean {
  const names = new Set(paths.flatMap((path) => /^[^/]+\/([^/]+)\.txt$/.exec(path)?.[1]?.replaceAll("-", "_") ?? []))
  const has = (layout: Layout) =>
    Object.entries(layout.files).some(([name, rule]) => rule.is === "field" && names.has(name))
  return has(GOOGLE_PLAY) && !has(APP_STORE)
}

function checkLocale({ layout, locale, path: folderPath, files }: LocaleFolder, names: OwnNames) {
  const { store } = layout
  const findings: MetadataFinding[] = []
  const report = (file: string, finding: Omit<MetadataFinding, "store" | "locale" | "file">) =>
    findings.push({ store, locale, file, ...finding })
  const isDefault = locale.toLowerCase() === "default"
  const listed = layout.locales.find((name) => name.toLowerCase() === locale.toLowerCase())
  const meant = listed ?? listingLocale(locale) ?? nearest(locale, layout.locales)
  if (!listed && !isDefault) report(folderPath, unknownLocale(layout, locale, meant))

  const texts: Texts = {}
  const places = new Map<Field, { path: string; text: SourceText }>()
  for (const { path, name, bytes } of files) {
    const rule = ruleOfFile(layout, name)
    if (rule === undefined) {
      report(path, unknownFile(layout, name))
      continue
    }
    const text = readSource(bytes)
    if (text === null) {
      report(path, wholeFile("not_utf8", "error", name, "The file is not UTF-8 text; save it as UTF-8."))
      continue
    }
    if (rule.is === "field") {
      texts[rule.field] = text.content
      places.set(rule.field, { path, text })
    }
    if (rule.is === "text") for (const finding of lengthFinding(text, rule.rule)) report(path, finding)
    if (rule.is === "url") for (const finding of urlFinding(text, rule.label)) report(path, finding)
  }

  const { listing, checks } = prepare(layout, texts, isDefault ? undefined : meant, names)
  for (const { field, offset, code, severity, what, message } of runChecks(listing, checks).findings) {
    const { path, text } = places.get(field!)!
    report(path, { ...positionIn(text, offset ?? 0), code, severity, what, message })
  }
  const fields = Object.fromEntries(
    Object.entries(listing.fields).map(([field, text]) => {
      const { length, limit } = measured(text)
      return [field, { length, limit }]
    }),
  )
  return { findings, listing: places.size === 0 ? null : { store, locale, fields } }
}

/**
 * Prepares the texts for the checks. A language without word lists is checked for lengths, spaces and characters only.
 */
function prepare(layout: Layout, texts: Texts, locale: string | undefined, names: OwnNames) {
  const listed = locale === undefined ? undefined : listingLocale(locale)
  const language = listed ? languageOf(listed) : "en"
  const background = backgroundIn({ ...names, rivals: [], tracked: [] }, language)
  const rules = Object.fromEntries(
    Object.values(layout.files).flatMap((rule) => (rule.is === "field" ? [[rule.field, rule.rule]] : [])),
  )
  const listing = listingOf(texts, language, background, rules)
  return { listing, checks: checksOf(layout, listed !== undefined) }
}

function checksOf(layout: Layout, hasLanguage: boolean): readonly Check[] {
  if (layout === APP_STORE) return hasLanguage ? CHECKS : [lengths, spaces, characters]
  return [lengths, spaces, playCharacters, ...(hasLanguage ? [playTitles, scripts, languages] : [])]
}

function ruleOfFile({ files, notes }: Layout, name: string): FileRule | undefined {
  const [first = "", ...rest] = name.replace(/\.txt$/, "").split("/")
  if (rest.length > 0) return notes && first === notes.folder ? { is: "text", rule: notes } : { is: "other" }
  const file = first.replaceAll("-", "_")
  return Object.hasOwn(files, file) ? files[file] : undefined
}

interface SourceText {
  content: string
  /** Line and column of the content's first character. */
  line: number
  column: number
}

/** Returns the text as the upload sends it: without white space around it. Null if it is not UTF-8. */
function readSource(bytes: Uint8Array): SourceText | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes).replaceAll("\r\n", "\n")
    const lead = text.slice(0, text.length - text.trimStart().length)
    return { content: text.trim(), ...after({ line: 1, column: 1 }, lead) }
  } catch {
    return null
  }
}

function positionIn({ content, line, column }: SourceText, offset: number) {
  const before = [...normalForm(content, "NFC")].slice(0, offset).join("")
  return after({ line, column }, before)
}

function after({ line, column }: { line: number; column: number }, text: string) {
  const lines = text.split("\n")
  const last = [...lines.at(-1)!].length
  return { line: line + lines.length - 1, column: lines.length === 1 ? column + last : last + 1 }
}

function lengthFinding(text: SourceText, { label, limit }: { label: string; limit: number }) {
  const points = [...normalForm(text.content, "NFC")]
  if (points.length <= limit) return []
  const message = `The ${label} have ${points.length} characters, ${points.length - limit} over the limit of ${limit}.`
  const what = points.slice(limit, limit + 100).join("")
  return [{ ...positionIn(text, limit), code: "too_long" as const, severity: "error" as const, what, message }]
}

function urlFinding(text: SourceText, label: string) {
  const { content } = text
  if (content === "" || (/^https?:\/\/[^\s/]+\.\S+$/i.test(content) && URL.canParse(content))) return []
  const message = `The ${label} must be one web address that begins with https://.`
  const what = content.slice(0, 100)
  return [{ ...positionIn(text, 0), code: "bad_url" as const, severity: "error" as const, what, message }]
}

function wholeFile(code: keyof typeof FILE_CODES, severity: Severity, what: string, message: string) {
  return { line: null, column: null, code, severity, what, message }
}

function unknownLocale({ store, storeName, locales }: Layout, locale: string, meant: string | undefined) {
  const near = locales.find((name) => name === meant) ?? locales.find((name) => name.split("-")[0] === locale)
  const advice = near ? `Did you mean ${near}?` : `It accepts ${locales.slice(0, 5).join(", ")} and others.`
  const refused = store === "ios" ? "fastlane refuses to upload such a folder" : "Google Play refuses it"
  return wholeFile(
    "unknown_locale",
    "error",
    locale,
    `There is no locale ${locale} in ${storeName}; ${refused}. ${advice}`,
  )
}

function unknownFile({ storeName, files }: Layout, name: string) {
  const accepted = Object.keys(files)
  const meant = nearest(name.replace(/\.txt$/, ""), accepted)
  const advice = meant ? `Did you mean ${meant}.txt?` : `Known names: ${accepted.join(", ")}.`
  const message = `No upload to ${storeName} reads ${name}. ${advice}`
  return wholeFile("unknown_file", "warning", name, message)
}
