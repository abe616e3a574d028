import * as v from "valibot"
import { type Context, operation } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import { Fault } from "../../lib/faults.ts"
import { textOrEmptyUpTo } from "../../lib/fields.ts"
import { appRecordId, parseRecordId, type RecordId } from "../../lib/record-ids.ts"
import { coded, described } from "../../lib/schema.ts"
import { appAddress, type RecordAnswer, storesOf } from "../../tracking/records.ts"
import { findApp } from "../../tracking/tracked-app.ts"
import { AppRecord, readApp } from "./apps.ts"
import { fetchKeyword, KeywordRecord } from "./fetched-keyword.ts"
import { fetchRival, RivalRecord } from "./fetched-rival.ts"

/** Longest possible id: a keyword of 150 characters, each percent-encoded from four bytes. */
const MAX_CHARACTERS = 2_048

const Id = coded(
  v.pipe(
    textOrEmptyUpTo(MAX_CHARACTERS),
    v.check((text) => parseRecordId(text) !== null),
    v.description("An id from search, unchanged."),
  ),
  "bad_id",
)

export const fetchRecord = operation({
  id: "fetch",
  method: "GET",
  path: "/fetch",
  group: "Account",
  toolset: "account",
  summary: "Returns the full record of a search result.",
  description:
    "An app with its latest measurement, a keyword with its rank and history, or a rival with its ratings and the " +
    "keywords where it ranks above the app.",
  effect: "reads",
  scope: "apps:read",
  price: 1,
  faults: ["app_not_allowed", "not_found"],
  names: "id",
  connector: { names: {} },
  input: v.strictObject({ id: Id }),
  output: v.strictObject({
    id: described(v.string(), "Id, as in search."),
    title: described(v.string(), "Name of the app or rival (its store id if unknown), or the keyword."),
    url: described(v.pipe(v.string(), v.url()), "The store page."),
    text: described(v.string(), "The record in one line of text."),
    metadata: described(v.union([KeywordRecord, AppRecord, RivalRecord]), "Record of a keyword, an app or a rival."),
  }),
}).run(async ({ id }, ctx) => {
  const recordId = parseRecordId(id) as RecordId
  const app = await findApp(
    ctx.sql,
    ctx.caller,
    recordId.appId,
    recordId.kind === "keyword" ? recordId.country : undefined,
  )
  const record = await readRecord(ctx, app, recordId)
  if (!record) throw new Fault("not_found")
  return { ...record, text: record.text.replaceAll(/[\s\p{Cc}]+/gu, " ") }
})

async function readRecord(ctx: Context, app: TrackedApp, id: RecordId) {
  if (id.kind === "keyword") return await fetchKeyword(ctx, app, id)
  return id.kind === "rival" ? await fetchRival(ctx, app, id) : await fetchApp(ctx, app)
}

type FetchedApp = RecordAnswer<v.InferOutput<typeof AppRecord>>

async function fetchApp({ sql }: Context, app: TrackedApp): Promise<FetchedApp> {
  const metadata = await readApp(sql, app)
  const keywords = Object.values(metadata.keywordsByCountry).flat().length
  const text = `${app.name}: ${storesOf(app)}; tracked keywords: ${keywords}, in ${app.countries.join(", ")}.`
  return { id: appRecordId(app.id), title: app.name, url: appAddress(app), text, metadata }
}
