import type { TextParser } from "../../measuring/source.ts"
import { APP_ADS_VARIABLES, type AppAdsRecord, type AppAdsVariables } from "../kinds/app-ads.ts"

/** Raise it when files are parsed differently. Stored with each reading. */
export const APP_ADS_PARSER = 1

export interface AppAdsFile {
  records: AppAdsRecord[]
  variables: AppAdsVariables
}

/** The parser with the name under which parser threads find it. */
export const appAdsText: TextParser<AppAdsFile> = { name: "app-ads.txt", parse: parseAppAds }

/**
 * Parses a file by the rules of ads.txt 1.1, to which app-ads.txt 1.0 refers: each line is a record or a variable, `#`
 * begins a comment, text after `;` is an extension. Never throws: other lines are skipped, as the rules require.
 * Repeated records count once, and the placeholder record, which declares that there are no sellers, is dropped. An
 * HTML page instead of the file, which many servers return for any path with status 200, gives no records.
 */
export function parseAppAds(text: string): AppAdsFile {
  const records = new Map<string, AppAdsRecord>()
  const variables: AppAdsVariables = {}
  // No record begins with "<". trimStart also removes a byte order mark.
  if (text.trimStart().startsWith("<")) return { records: [], variables }
  for (const line of text.split(/\r\n|\r|\n/)) {
    const content = (/^[^#]*/.exec(line)?.[0] ?? "").trim()
    if (content === "" || addVariable(variables, content)) continue
    const record = recordOf(content)
    if (record) addRecord(records, record)
  }
  return { records: [...records.values()], variables }
}

// The first field of a record is a domain, which never contains "=".
function addVariable(variables: AppAdsVariables, line: string): boolean {
  const [, named, given = ""] = /^([A-Za-z]{1,40})\s*=(.*)$/.exec(line) ?? []
  if (named === undefined) return false
  const name = APP_ADS_VARIABLES.find((variable) => variable === named.toUpperCase())
  const value = given.trim()
  if (name === undefined || !isPlain(value)) return true
  const values = variables[name] ?? []
  if (!values.includes(value) && values.length < MAX_VALUES) variables[name] = [...values, value]
  return true
}

// MANAGERDOMAIN may need one value per country.
const MAX_VALUES = 250

function recordOf(line: string): AppAdsRecord | null {
  const [fields = ""] = line.split(";", 1)
  const [system = "", publisherId = "", relates = "", certId = ""] = fields.split(",").map((field) => field.trim())
  const relation = relates.toUpperCase()
  const domain = system.toLowerCase()
  if (relation !== "DIRECT" && relation !== "RESELLER") return null
  if (!isDomain(domain) || domain === PLACEHOLDER || !isPlain(publisherId)) return null
  return { system: domain, publisherId, relation, ...(/^[\w-]{1,64}$/.test(certId) && { certId }) }
}

const PLACEHOLDER = "placeholder.example.com"

function addRecord(records: Map<string, AppAdsRecord>, record: AppAdsRecord): void {
  // None of the three values contains a line break.
  const key = `${record.system}\n${record.publisherId}\n${record.relation}`
  const previous = records.get(key)
  // Adds the certification id of a repeated record if the first record has none.
  records.set(key, { ...record, ...previous })
}

/** Returns whether a text can be shown and stored unchanged. */
function isPlain(value: string): boolean {
  return value !== "" && value.length <= 256 && (PRINTABLE.test(value) || !/[\p{C}<>]/u.test(value))
}

// A fast path: nearly all values are ASCII, and the Unicode patterns are several times slower.
const PRINTABLE = /^[ -;=?-~]+$/
const ASCII_DOMAIN = /^[a-z0-9][a-z0-9_-]{0,62}(?:\.[a-z0-9][a-z0-9_-]{0,62})+$/

function isDomain(name: string): boolean {
  if (name.length > 253) return false
  if (ASCII_DOMAIN.test(name)) return true
  const labels = name.split(".")
  return labels.length > 1 && labels.every((label) => /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_-]{0,62}$/u.test(label))
}
