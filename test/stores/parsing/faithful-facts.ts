import type { StoreApp } from "../../../src/core/observation/line-parts.ts"
import type { Observation } from "../../../src/kinds.ts"
import type { Standing } from "./faithful.ts"

type FactsObservation = Extract<Observation, { kind: "listing" | "developer" | "chart" | "genres" }>

// Fields that are counted, computed or chosen from a few words of this project.
const NOT_IN_BODY = new Set(["depth", "complete", "hasInAppPurchases"])
const OWN_WORDS = new Set(["story", "collection"])

/** Returns a message about the first value that does not occur in the body. Undefined if all do. */
export function factsUnfaithful(reading: FactsObservation, standing: Standing): string | undefined {
  const field = { listing: "listing", developer: "apps", chart: "apps", genres: "genres" }[reading.kind]
  return unfaithfulAt(field, (reading as unknown as Record<string, unknown>)[field], standing)
}

/**
 * Returns a message about the first value of a look-up's market facts and listing that does not occur in the body.
 * Undefined if all do.
 */
export function extrasUnfaithful({ market, listing }: ListedFacts, standing: Standing): string | undefined {
  const { language = "en", subtitle, description, versions, ...listed } = listing ?? {}
  // The language comes from the request.
  if (language !== "en") return `the language ${language} was not asked for`
  const written = [subtitle, description, ...(versions ?? []).map(({ notes }) => notes)]
  const wrong = written.find((text) => text !== undefined && !standing.plain(text))
  if (wrong !== undefined) return `${JSON.stringify(wrong)} does not stand in the body`
  const facts = { listed, versions: versions?.map(({ notes: _notes, ...version }) => version) }
  return unfaithfulAt("market", market, standing) ?? unfaithfulAt("listing", facts, standing)
}

type ListedFacts = Pick<StoreApp, "market" | "listing">

function unfaithfulAt(path: string, value: unknown, standing: Standing): string | undefined {
  if (typeof value === "object" && value !== null && !(value instanceof Date)) {
    for (const [key, part] of Object.entries(value)) {
      const wrong = NOT_IN_BODY.has(key) ? undefined : unfaithfulAt(`${path}.${key}`, part, standing)
      if (wrong !== undefined) return wrong
    }
    return undefined
  }
  return value === undefined || occurs(path, value, standing)
    ? undefined
    : `${path} ${JSON.stringify(value)} does not stand in the body`
}

function occurs(path: string, value: unknown, standing: Standing): boolean {
  if (value instanceof Date) return standing.date(value) || standing.text(spelt(value))
  if (typeof value === "number")
    return standing.figure(value) || standing.text(value.toFixed(2)) || standing.text(grouped(value))
  if (typeof value !== "string") return false
  if (/\.editorial\.\d+\.kind$/.test(path)) return OWN_WORDS.has(value)
  return /icon$|screenshots/.test(path) ? standing.picture(value) : standing.text(value)
}

/** "12,000", the format of in-app prices. */
const grouped = (value: number) => value.toLocaleString("en-US", { maximumFractionDigits: 2 })

/** "Tue Aug 11 2026 08:00:00 GMT+0000", the format of version histories. */
function spelt(date: Date): string {
  const [, day, month, year, time] = /^\w{3}, (\d\d) (\w{3}) (\d{4}) (\S+) GMT$/.exec(date.toUTCString()) ?? []
  return `${date.toUTCString().slice(0, 3)} ${month} ${day} ${year} ${time} GMT+0000`
}
