import type { PlatformWay } from "../../lib/accounts/platform.ts"
import { Fault } from "../../lib/faults.ts"
import { type ConsoleResource, listResources, stateOf, textOf } from "../writing/console-documents.ts"
import { type FieldName, fieldsOf, type Half, LISTING_FIELDS, type Texts } from "./listing-fields.ts"

/** The state of one half of a listing at the console. */
interface SeenHalf {
  /** Id of the version, or of the app's information. */
  id: string
  state: string
  /** Id of its localization. Null if the locale has none. */
  localization: string | null
}

/** The part of a listing in one locale that a write touches. */
export interface SeenListing {
  account: string
  version: SeenHalf
  /** Null if the write does not touch this half. */
  info: SeenHalf | null
  /** Only the fields of the write. */
  texts: Texts
}

export interface ListingQuestion {
  locale: string
  fields: Texts
  open: boolean
}

/** States in which each half can be edited, in order of preference. */
const VERSION_STATES = [
  "PREPARE_FOR_SUBMISSION",
  "DEVELOPER_REJECTED",
  "REJECTED",
  "METADATA_REJECTED",
  "INVALID_BINARY",
]
// An app's information waits for review together with any of its platforms, even while a version is still being
// prepared.
const INFO_STATES = ["PREPARE_FOR_SUBMISSION", "DEVELOPER_REJECTED", "REJECTED", "WAITING_FOR_REVIEW"]

interface HalfPaths {
  owners: (app: string) => string
  localizations: (id: string) => string
  state: (resource: ConsoleResource) => string
}

const PATHS: Record<Half, HalfPaths> = {
  version: {
    owners: (app) =>
      `/v1/apps/${app}/appStoreVersions?${new URLSearchParams({ "filter[platform]": "IOS", limit: "50" })}`,
    localizations: (id) => `/v1/appStoreVersions/${id}/appStoreVersionLocalizations?limit=200`,
    state: (resource) => stateOf(resource, "appVersionState", "appStoreState"),
  },
  info: {
    owners: (app) => `/v1/apps/${app}/appInfos?limit=50`,
    localizations: (id) => `/v1/appInfos/${id}/appInfoLocalizations?limit=200`,
    state: (resource) => stateOf(resource, "state", "appStoreState"),
  },
}

/** Reads the editable listing. Throws no_editable_version and locale_not_found. */
export async function readListing(
  way: PlatformWay,
  question: ListingQuestion,
  signal: AbortSignal,
): Promise<SeenListing> {
  const { fields, open } = question
  const version = await findEditable(way, "version", VERSION_STATES, signal)
  if (!version.found) throw new Fault("no_editable_version", { detail: statesText("versions", version.states) })
  const touchesInfo = fieldsOf("info", fields).length > 0 || open
  const info = touchesInfo ? await findEditable(way, "info", INFO_STATES, signal) : null
  if (info && !info.found) throw new Fault("no_editable_version", { detail: mixedText(info.states, fields) })
  const halves: [Half, ConsoleResource | null | undefined][] = [
    ["version", version.found],
    ["info", info?.found],
  ]
  const read = await Promise.all(
    halves.map(([half, owner]) => (owner ? readHalf(way, half, owner, question, signal) : null)),
  )
  const [ofVersion, ofInfo] = read
  if (!open) refuseMissing(question, ofVersion!, ofInfo ?? null)
  return {
    account: way.account,
    version: ofVersion!.seen,
    info: ofInfo?.seen ?? null,
    texts: { ...ofInfo?.texts, ...ofVersion!.texts },
  }
}

async function findEditable(way: PlatformWay, half: Half, editable: readonly string[], signal: AbortSignal) {
  const { owners, state } = PATHS[half]
  const all = await listResources(way, owners(way.app), signal)
  if (!all) throw new Fault("no_editable_version", { detail: "The connected console does not have this app." })
  const [found = null] = editable.flatMap((wanted) => all.find((item) => state(item) === wanted) ?? [])
  return { found, states: all.map(state) }
}

interface HalfReading {
  seen: SeenHalf
  locales: string[]
  texts: Texts
}

async function readHalf(
  way: PlatformWay,
  half: Half,
  owner: ConsoleResource,
  { locale, fields }: ListingQuestion,
  signal: AbortSignal,
): Promise<HalfReading> {
  const all = (await listResources(way, PATHS[half].localizations(owner.id), signal)) ?? []
  const here = all.find((item) => textOf(item, "locale") === locale) ?? null
  return {
    seen: { id: owner.id, state: PATHS[half].state(owner), localization: here?.id ?? null },
    locales: all.map((item) => textOf(item, "locale") ?? "").filter((text) => /^[A-Za-z-]{2,12}$/.test(text)),
    texts: textsIn(here, fieldsOf(half, fields)),
  }
}

function textsIn(resource: ConsoleResource | null, names: readonly FieldName[]): Texts {
  return Object.fromEntries(names.map((name) => [name, resource && textOf(resource, name)]))
}

function refuseMissing({ locale }: ListingQuestion, version: HalfReading, info: HalfReading | null): void {
  if (version.seen.localization !== null && info?.seen.localization !== null) return
  const locales = version.locales.toSorted().join(", ") || "none"
  throw new Fault("locale_not_found", {
    detail: `The version has the locales ${locales}. Set open to true to add ${locale}.`,
  })
}

function statesText(what: string, states: readonly string[]): string {
  const found = [...new Set(states)].sort().join(", ") || "none"
  return `The states of the app's ${what} are: ${found}. It can be edited in one of: ${VERSION_STATES.join(", ")}.`
}

/** Returns the message for an edit of both halves when the app's information cannot be edited. */
function mixedText(states: readonly string[], fields: Texts): string {
  const without = fieldsOf("version", fields)
  const rest =
    without.length > 0 ? ` Leave out ${fieldsOf("info", fields).join(", ")} to change only ${without.join(", ")}.` : ""
  const found = [...new Set(states)].sort().join(", ")
  const problem = found
    ? `The app's information cannot be edited in its state at the console: ${found}.`
    : "The console has no information of the app that can be edited."
  return problem + rest
}

/**
 * Reads the current texts of the halves that were read before, whatever their state is now. Null if they no longer
 * exist.
 */
export async function readTexts(
  way: PlatformWay,
  { version, info }: SeenListing,
  { locale, fields }: ListingQuestion,
  signal: AbortSignal,
): Promise<{ texts: Texts; localizations: Record<Half, string | null> } | null> {
  const localizations: Record<Half, string | null> = { info: null, version: null }
  const texts: Texts = {}
  for (const [half, seen] of [
    ["info", info],
    ["version", version],
  ] as const) {
    if (!seen) continue
    const all = await listResources(way, PATHS[half].localizations(seen.id), signal)
    if (!all) return null
    const here = all.find((item) => textOf(item, "locale") === locale) ?? null
    localizations[half] = here?.id ?? null
    Object.assign(texts, textsIn(here, fieldsOf(half, fields)))
  }
  return { texts, localizations }
}

/** True if the field belongs to the half. */
export function isOf(half: Half, name: FieldName): boolean {
  return LISTING_FIELDS[name].half === half
}
