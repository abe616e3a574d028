import { AccessProblem } from "../../access/problem.ts"
import type { Sql } from "../../database/types.ts"
import { DATASETS, datasetOf, FEED_FORMATS } from "./datasets.ts"
import { createFeed } from "./store.ts"

/** A feed as a person or a command requests it. A text is empty if nothing was chosen. */
export interface FeedRequest {
  dataset: string
  format: string
  platform: string
  country: string
  /** Names separated by commas. */
  columns: string
}

interface CreatedFeed {
  url: string
  dataset: string
  format: string
  columns: string[] | null
}

/**
 * Creates a feed of an app and returns its address, which is shown once. Throws AccessProblem with the field that is
 * wrong and the values that are allowed.
 */
export async function requestFeed(
  sql: Sql,
  app: { id: string; countries: readonly string[] },
  { workspaceId, keyId, publicUrl }: { workspaceId: number; keyId: number | null; publicUrl: string },
  request: FeedRequest,
): Promise<CreatedFeed> {
  const dataset = chosen("dataset", request.dataset, DATASETS)
  const { formats, columns: allColumns, isOfStorefront } = datasetOf(dataset)
  const format = chosen("format", request.format || (formats[0] as string), FEED_FORMATS)
  if (!formats.includes(format))
    throw new AccessProblem(`${dataset} have no ${format} feed; choose ${formats.join(" or ")}`, "format")
  const named = request.columns.split(",").flatMap((name) => name.trim() || [])
  if (format === "atom" && named.length > 0)
    throw new AccessProblem("a feed of entries has no columns; leave them out, or choose csv", "columns")
  const unknown = named.find((name, at) => !allColumns.includes(name) || named.indexOf(name) !== at)
  if (unknown !== undefined)
    throw new AccessProblem(
      `${JSON.stringify(unknown.slice(0, 40))} is not a column of ${dataset}, or is named twice; columns are ` +
        allColumns.join(", "),
      "columns",
    )
  const columns = format === "atom" ? null : named.length > 0 ? named : [...allColumns]
  const storefront = request.country.toLowerCase() || (app.countries[0] as string)
  if (isOfStorefront && !app.countries.includes(storefront))
    throw new AccessProblem(`the app does not track this storefront; it tracks ${app.countries.join(", ")}`, "country")
  const platform = chosen("platform", request.platform || "ios", ["ios", "android"] as const)
  const side = isOfStorefront ? { platform, storefront } : { platform: null, storefront: null }
  const token = await createFeed(sql, { workspaceId, appId: app.id, keyId, dataset, format, ...side, columns })
  return { url: `${publicUrl}/feeds/${token}`, dataset, format, columns }
}

function chosen<Value extends string>(field: string, text: string, values: readonly Value[]): Value {
  const value = values.find((one) => one === text)
  if (value === undefined) throw new AccessProblem(`${field} must be one of ${values.join(", ")}`, field)
  return value
}
