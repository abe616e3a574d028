import type { OfferKind } from "../../lib/accounts/offer-kinds.ts"
import { storefrontOfTerritory } from "./territories.ts"

/** A price other than the normal one, as the console lists it. A field is null if the response does not include it. */
export interface ListedOffer {
  kind: OfferKind
  /** The console's id. An introductory offer has one resource per territory, so its id is made of its terms instead. */
  offer: string
  name: string | null
  /** FREE_TRIAL, PAY_AS_YOU_GO or PAY_UP_FRONT. */
  mode: string | null
  duration: string | null
  periods: number | null
  active: boolean | null
  /** Number of codes created. */
  codes: number | null
  /** Storefronts in which the offer is available. Null if it is not limited to some storefronts. */
  countries: string[] | null
  starts: string | null
  ends: string | null
}

interface Resource {
  id: string
  attributes: Record<string, unknown>
  relationships: Record<string, { data?: { id?: unknown } | null } | undefined>
}

/** Parses the offers of one list. Merges offers that differ only in the territory. */
export function offersIn(kind: OfferKind, resources: readonly Resource[]): ListedOffer[] {
  const offers = resources.map((resource) => offerIn(kind, resource))
  if (kind !== "introductory") return offers
  return [...Map.groupBy(offers, ({ offer }) => offer).values()].map((rows) => ({
    ...rows[0]!,
    countries: [...new Set(rows.flatMap(({ countries }) => countries ?? []))].sort(),
  }))
}

function offerIn(kind: OfferKind, { id, attributes, relationships }: Resource): ListedOffer {
  const { name, offerMode, duration, numberOfPeriods, active, totalNumberOfCodes, productionCodeCount } = attributes
  const [mode, length, periods] = [wordOf(offerMode), wordOf(duration), countOf(numberOfPeriods)]
  const [starts, ends] = [dayOf(attributes.startDate), dayOf(attributes.endDate)]
  const territory = relationships.territory?.data?.id
  const country = typeof territory === "string" ? storefrontOfTerritory(territory) : undefined
  const same = [mode, length, periods, starts, ends].map((part) => part ?? "").join(" ")
  return {
    kind,
    offer: kind === "introductory" ? same : id,
    name: wordOf(name),
    mode,
    duration: length,
    periods,
    active: typeof active === "boolean" ? active : null,
    codes: countOf(productionCodeCount) ?? countOf(totalNumberOfCodes),
    countries: kind === "introductory" ? (country === undefined ? [] : [country]) : null,
    starts,
    ends,
  }
}

function wordOf(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value.trim().slice(0, 200) : null
}

function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null
}

function dayOf(value: unknown): string | null {
  return typeof value === "string" && /^\d{4}-\d\d-\d\d/.test(value) ? value.slice(0, 10) : null
}
