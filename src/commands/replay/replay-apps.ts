import type { Attempt } from "../../core/observation/attempt.ts"
import { parseBody, type RawBody, ReadFailure } from "../../measuring/source.ts"
import type { Sources } from "../../sources.ts"
import { itunesRows } from "../../stores/apple/itunes-app.ts"
import type { AppsObservation } from "../../stores/kinds/apps-shape.ts"
import { withoutPages } from "../../stores/kinds/pages-in-look-ups.ts"

/**
 * Parses the body of a stored reading again and returns those of its apps that no later reading replaced. Throws
 * ReadFailure.
 */
export function readAppsAgain(sources: Sources, storedReading: AppsObservation, body: RawBody): AppsObservation {
  const { source, platform, storefront, asked: requestedIds } = storedReading
  const subject = askedOf(source, requestedIds, body).join()
  const read = readApps(sources, { source, platform, storefront, subject }, body)
  return { ...read, asked: requestedIds, apps: read.apps.filter(({ id }) => requestedIds.includes(id)) }
}

/**
 * Returns the ids that the reading requested, as far as they are still known: later readings may have replaced some
 * apps. Throws ReadFailure.
 */
function askedOf(source: AppsObservation["source"], stored: readonly string[], { text }: RawBody): string[] {
  if (source !== "itunes-lookup") return [...stored]
  const named = itunesRows(text).flatMap((row) => (row.is === "other" ? [] : [row.id]))
  return [...new Set([...stored, ...named])]
}

/**
 * Parses apps without their pages, because it is unknown whether the body was requested for pages. Throws ReadFailure.
 */
export function readApps(
  sources: Sources,
  { source: name, platform, storefront, subject }: Pick<Attempt, "source" | "platform" | "storefront" | "subject">,
  body: RawBody,
): AppsObservation {
  const catalogue = sources.catalogues.find((one) => one.name === name)
  // the term is not stored and does not matter for an app
  if (catalogue) return parseBody(catalogue, { storefront, term: "" }, body, undefined)
  const lookup = sources.lookups.find((one) => one.name === name)!
  const ids = subject.split(",")
  try {
    return withoutPages(parseBody(lookup, { storefront, ids }, body, undefined))
  } catch (error) {
    if (!(error instanceof ReadFailure && error.outcome === "not_found")) throw error
    const { seenAt, sha256 } = body
    const about = { parser: lookup.parser, origin: "own", seenAt, sha256 }
    return {
      kind: "apps",
      source: name as AppsObservation["source"],
      platform,
      storefront,
      asked: ids,
      apps: [],
      ...about,
    }
  }
}
