import * as v from "valibot"
import { action } from "../../core/action.ts"
import { Fault } from "../../lib/faults.ts"
import { AppId, Country, Platform } from "../../lib/fields.ts"
import { coded, described } from "../../lib/schema.ts"
import { Count, Day, Store, Storefront, Time } from "../../lib/shapes.ts"
import { isRealDay } from "../../lib/time.ts"
import { keepApp } from "../../tracking/limits.ts"
import { findApp } from "../../tracking/tracked-app.ts"
import { exportDays } from "./days.ts"
import type { ExportDraft } from "./draft.ts"
import { draftHistory, draftKeywords } from "./ranks.ts"
import { draftReviews } from "./reviews.ts"
import { type Dataset, EXPORT_COLUMNS } from "./rows.ts"
import { createExport } from "./store.ts"

const RangeDay = (description: string) =>
  v.optional(v.pipe(v.string(), v.isoDate(), v.check(isRealDay), v.description(description)))

/** The contents of an export file: dataset, format, storefront, store, days, rows and columns. */
const file = {
  dataset: v.picklist(["keywords", "history", "reviews"]),
  format: v.picklist(["csv", "json"]),
  country: Storefront,
  platform: Store,
  from: described(v.nullable(Day), "Null if never measured."),
  to: v.nullable(Day),
  rows: Count,
  columns: v.array(v.string()),
}

export const exportData = action({
  name: "export_data",
  summary: "Exports an app's keywords, rank history or reviews to a file.",
  description:
    "The confirm returns a link that is valid for 7 days and needs no key: anyone with the link can download the " +
    "file. CSV is made for spreadsheets: UTF-8 with a byte order mark, and an apostrophe before texts that look " +
    "like formulas. JSON has every text unchanged.",
  scope: "reports:write",
  plan: "pro",
  credits: 20,
  destructive: false,
  args: v.strictObject({
    appId: AppId,
    dataset: described(
      v.picklist(["keywords", "history", "reviews"]),
      "keywords: latest rank and figures of every tracked keyword. history: one row per keyword and measured day. " +
        "reviews: reviews of one storefront (App Store) or language (Google Play).",
    ),
    country: v.optional(
      v.pipe(
        coded(Country, "invalid_arguments"),
        v.description("Two-letter storefront code. Default: the app's first storefront."),
      ),
    ),
    platform: Platform,
    format: v.optional(described(v.picklist(["csv", "json"]), "Format of the file."), "csv"),
    from: RangeDay(
      "First UTC day of history or reviews, YYYY-MM-DD. Default: start of the plan's history; for reviews, 90 " +
        "days before the last day.",
    ),
    to: RangeDay("Last UTC day of history or reviews, YYYY-MM-DD. Default, and latest: today."),
  }),
  example: { appId: "app_4fD0Zs81hQbK", dataset: "keywords" },
  state: v.strictObject({ export: v.nullable(v.strictObject(file)) }),
  result: v.strictObject({
    appId: v.string(),
    ...file,
    url: described(v.string(), "The link. It is shown only once."),
    expiresAt: Time,
  }),
  refine(args) {
    const { dataset, country, from, to } = args
    // "keywords" exports the latest day only, so a request with days is refused
    if (dataset === "keywords" && (from ?? to) !== undefined)
      throw new Fault("invalid_arguments", {
        field: from === undefined ? "to" : "from",
        detail: "The dataset keywords covers only the latest day. Omit from and to.",
      })
    if (from !== undefined && to !== undefined && from > to)
      throw new Fault("invalid_arguments", { field: "from", detail: `from (${from}) is after to (${to}).` })
    return { ...args, ...(country && { country: country.toLowerCase() }) }
  },
  target: ({ appId, dataset }) => `export ${appId} ${dataset}`,
  async look(args, looking) {
    const { sql, caller, lock, now } = looking
    if (lock) await keepApp(sql, caller, args.appId)
    const app = await findApp(sql, caller, args.appId, args.country)
    const side = { platform: args.platform, storefront: args.country ?? app.countries[0] }
    if (args.dataset === "keywords") return { app, side, draft: await draftKeywords(looking, app, side) }
    const days = exportDays(args.dataset, args, now, caller)
    const draft = await (args.dataset === "history" ? draftHistory : draftReviews)(looking, app, side, days)
    if (days.cut) draft.notes.push(`The plan reads back to ${days.planFrom}: earlier days are not in the file.`)
    return { app, side, draft }
  },
  diff({ app, side, draft }, { dataset, format }) {
    const { rows, from, to, notes } = draft
    const columns = EXPORT_COLUMNS[dataset]
    const file = { dataset, format, country: side.storefront, platform: side.platform, from, to, rows, columns }
    const named = `${COUNTED[dataset]} of ${JSON.stringify(app.name)} in ${side.storefront} on ${side.platform}`
    const made = `${rows === 1 ? "1 row" : `${rows} rows`} of ${columns.length} columns`
    return {
      summary:
        rows === 0
          ? `Export no file of the ${named}${spanOf(draft)}: there are no rows.`
          : `Make a ${format.toUpperCase()} file of the ${named}${spanOf(draft)}: ${made}.`,
      target: { kind: "app", id: app.id, name: app.name },
      before: { export: rows === 0 ? file : null },
      after: { export: file },
      notes,
    }
  },
  async write({ dataset, format }, { app, side, draft }, { tx, caller, publicUrl }) {
    const { rows, from, to } = draft
    const of = { appId: app.id, dataset, format, country: side.storefront, platform: side.platform, from, to, rows }
    const columns = [...EXPORT_COLUMNS[dataset]]
    const { id, token, expiresAt } = await createExport(tx, caller.workspaceId, { ...of, columns })
    await draft.store(tx, id)
    return { ...of, columns, url: `${publicUrl}/exports/${token}`, expiresAt: expiresAt.toISOString() }
  },
  shownOnce: ["url"],
})

const COUNTED: Record<Dataset, string> = { keywords: "keywords", history: "rank history", reviews: "reviews" }

function spanOf({ from, to }: ExportDraft): string {
  if (from === null) return ""
  return from === to ? ` of ${from}` : ` from ${from} to ${to}`
}
