import type { ListingExtras as ListedBeside, ListingVersion, Screenshots } from "../../core/observation/line-parts.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { text } from "../../measuring/parsing/json.ts"
import { fact, moment, url } from "./itunes-app.ts"

/**
 * Returns the parts of an app's store page that a row of an iTunes response contains. Throws ReadFailure (`changed`).
 */
export function lookupFacts(row: unknown): ListedBeside {
  return withoutUndefined<ListedBeside>({
    description: fact(row, "description", text),
    screenshots: screenshotsOf(row),
    minimumOs: fact(row, "minimumOsVersion", text),
    ageRating: fact(row, "contentAdvisoryRating", text),
    category: fact(row, "primaryGenreName", text),
    versions: versionOf(row),
  })
}

function screenshotsOf(row: unknown): Screenshots | undefined {
  const [phone, pad] = [fact(row, "screenshotUrls", urls), fact(row, "ipadScreenshotUrls", urls)]
  const pictures = withoutUndefined<Screenshots>({ phone: someOf(phone), pad: someOf(pad) })
  return Object.keys(pictures).length > 0 ? pictures : undefined
}

/**
 * Returns undefined for an empty list: Apple also returns an empty list for apps that have screenshots (recorded in
 * March 2026).
 */
function someOf(pictures: string[] | undefined): string[] | undefined {
  return pictures?.length === 0 ? undefined : pictures
}

function urls(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const read = value.map(url)
  return read.includes(undefined) ? undefined : (read as string[])
}

function versionOf(row: unknown): ListingVersion[] | undefined {
  const version = fact(row, "version", text)
  if (version === undefined) return undefined
  const releasedAt = fact(row, "currentVersionReleaseDate", moment)
  return [withoutUndefined<ListingVersion>({ version, releasedAt, notes: fact(row, "releaseNotes", text) })]
}
