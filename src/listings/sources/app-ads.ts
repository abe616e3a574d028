import { APP_ADS_VARIABLES, type AppAdsRecord, type AppAdsVariables } from "../kinds/app-ads.ts"

/** Raised whenever a file is read otherwise; stored with what was read. */
export const APP_ADS_PARSER = 1

export interface AppAdsFile {
  records: AppAdsRecord[]
  variables: AppAdsVariables
}

/**
 * What a file says by the rules of ads.txt 1.1, which app-ads.txt 1.0 refers to: a record or a variable a line, `#`
 * begins a comment, what follows `;` is an extension. Never throws: a line that is neither is passed over, as the rules
 * ask for. A record that stands twice counts once, and the placeholder by which a file says that it names nobody is
 * none. A page in place of the file, which many servers answer for any path with status 200, gives nothing.
 */
export function parseAppAds(text: string): AppAdsFile {
  const records = new Map<string, AppAdsRecord>()
  const variables: AppAdsVariables = {}
  // no record begins so; String.trim also takes a byte order mark away
  if (text.trimStart().startsWith("<")) return { records: [], variables }
  for (const line of text.split(/\r\n|\r|\n/)) {
    const said = (/^[^#]*/.exec(line)?.[0] ?? "").trim()
    if (said === "" || addVariable(variables, said)) continue
    const record = recordOf(said)
    if (record) addRecord(records, record)
  }
  return { records: [...records.values()], variables }
}

// A record's first field is a domain, which holds no "=".
function addVariable(variables: AppAdsVariables, line: string): boolean {
  const [, named, given = ""] = /^([A-Za-z]{1,40})\s*=(.*)$/.exec(line) ?? []
  if (named === undefined) return false
  const name = APP_ADS_VARIABLES.find((variable) => variable === named.toUpperCase())
  const value = given.trim()
  if (name === undefined || !isPlain(value)) return true
  const values = variables[name] ?? []
  if (!values.includes(value) && values.length < MOST_VALUES) variables[name] = [...values, value]
  return true
}

// One for each country is what MANAGERDOMAIN needs.
const MOST_VALUES = 250

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
  // none of the three holds a line's end
  const key = `${record.system}\n${record.publisherId}\n${record.relation}`
  const known = records.get(key)
  // one that lacked the authority's id the first time has it now
  records.set(key, { ...record, ...known })
}

/** Whether a text can be shown and stored as it is. */
function isPlain(value: string): boolean {
  return value !== "" && value.length <= 256 && (PRINTABLE.test(value) || !/[\p{C}<>]/u.test(value))
}

// Nearly all are ASCII, of which the patterns for all scripts take several times as long.
const PRINTABLE = /^[ -;=?-~]+$/
const ASCII_DOMAIN = /^[a-z0-9][a-z0-9_-]{0,62}(?:\.[a-z0-9][a-z0-9_-]{0,62})+$/

function isDomain(name: string): boolean {
  if (name.length > 253) return false
  if (ASCII_DOMAIN.test(name)) return true
  const labels = name.split(".")
  return labels.length > 1 && labels.every((label) => /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_-]{0,62}$/u.test(label))
}
