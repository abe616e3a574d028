import { cutText } from "../../../lib/text.ts"
import { checkedRow, PutAside } from "../../../measuring/parsing/put-aside.ts"
import { type About, ReadFailure } from "../../../measuring/source.ts"
import {
  type AdsChangesObservation,
  type AdsPopularityObservation,
  type AdsPopularityRow,
  ChangeRow,
  PopularityRow,
} from "../../kinds/ads-insights.ts"
import { MAX_WORD } from "../../kinds/reports-shape.ts"
import {
  countIn,
  countryIn,
  idOrNothing,
  type PlatformRow,
  rowName,
  termIn,
  within,
  wordIn,
} from "./response-fields.ts"

/** Raise this whenever insights and changes are parsed differently. */
const PARSER = 2
const HEAD = { platform: "ios", parser: PARSER, origin: "own" } as const

/** An entry of the change summary: one changed entity. */
export interface ChangeNotice {
  /** The id for requesting its details, for example "Keyword.81.0eee6ae3". */
  id: string
  /** UTC. */
  day: string
}

/** Returns the changes without their authors. Unreadable summaries are skipped. */
export function noticesIn(summaries: readonly PlatformRow[], aside = new PutAside()): ChangeNotice[] {
  const notices: ChangeNotice[] = []
  aside.each(summaries, rowName, (summary) => {
    const day = timeIn(summary).slice(0, 10)
    const metas = Array.isArray(summary.metas) ? (summary.metas as PlatformRow[]) : []
    for (const meta of metas) {
      const id = wordIn(meta ?? {}, "detailId")
      if (id !== undefined) notices.push({ id, day })
    }
  })
  return [...new Map(notices.map((notice) => [notice.id, notice])).values()]
}

const changeRow = checkedRow<ChangeRow>(ChangeRow)

/** Returns one row per changed field, or one row for a change without fields. Unreadable changes are skipped. */
export function changeRows(id: string, result: unknown, aside = new PutAside()): ChangeRow[] {
  const records = (Array.isArray(result) ? result : [result]) as PlatformRow[]
  const rows: ChangeRow[] = []
  for (const record of records)
    aside.row(`change ${cutText(id, 60)}`, () => void rows.push(...rowsOf(id, record ?? {})))
  return rows
}

function rowsOf(id: string, record: PlatformRow): ChangeRow[] {
  const meta = within(record, "entityMetaData")
  const entity = wordIn(record, "entityType") ?? id.split(".")[0]!
  const entityId = wordIn(record, "entityId") ?? idOrNothing(record, "entityId") ?? id.split(".")[1] ?? id
  const campaign = entity === "Campaign" ? entityId : idOrNothing(meta, "campaignId")
  const name = wordIn(meta, "text") ?? wordIn(meta, "name")
  const head = {
    change: id,
    at: timeIn(record),
    by: WHO[String(record.userType)] ?? "other",
    event: eventIn(record),
    entity,
    entityId,
    ...(campaign !== undefined && /^\d{1,20}$/.test(campaign) && { campaign }),
    ...(name !== undefined && { name }),
  }
  const fields = fieldsIn(record)
  return (fields.length > 0 ? fields : [{ field: "all" }]).map((field) => changeRow({ ...head, ...field }))
}

function fieldsIn(record: PlatformRow): Pick<ChangeRow, "field" | "from" | "to">[] {
  const details = Array.isArray(record.details) ? (record.details as PlatformRow[]) : []
  return details.flatMap((detail) => {
    const changes = Array.isArray(detail?.changes) ? (detail.changes as PlatformRow[]) : []
    return changes.filter(Boolean).map((change) => {
      const [from, to] = [valuesIn(change.oldValues), valuesIn(change.newValues)]
      return { field: wordIn(change, "field") ?? "unknown", ...(from && { from }), ...(to && { to }) }
    })
  })
}

function valuesIn(values: unknown): string | undefined {
  const words = (Array.isArray(values) ? values : []).map(String).filter((word) => word.trim() !== "")
  return words.length > 0 ? cutText(words.join(", ").replaceAll("\0", "").toWellFormed(), MAX_WORD) : undefined
}

const WHO: Record<string, ChangeRow["by"]> = { CUSTOMER: "dashboard", CUSTOMER_API: "api", APPLE_SUPPORT: "apple" }

function eventIn({ eventType }: PlatformRow): ChangeRow["event"] {
  return eventType === "CREATE" || eventType === "UPDATE" || eventType === "DELETE" ? eventType : "OTHER"
}

/** Parses a time. A time without a zone is in UTC. */
function timeIn({ eventTime }: PlatformRow): string {
  const text = String(eventTime)
  const at = new Date(/(Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`)
  if (Number.isNaN(at.getTime())) throw new ReadFailure("changed", "it has no time")
  return at.toISOString()
}

export function changesOf(
  rows: readonly ChangeRow[],
  { account, day }: { account: string; day: string },
  { seenAt, sha256 }: About,
): AdsChangesObservation {
  const sorted = [...rows].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const about = { kind: "ads_changes", source: "apple-ads-changes", account, day, seenAt, sha256, rows: sorted }
  return { ...HEAD, ...about } as AdsChangesObservation
}

function keyOf({ at, change, field }: ChangeRow): string {
  return `${at} ${change} ${field}`
}

const popularityRow = checkedRow<AdsPopularityRow>(PopularityRow)

/**
 * Returns the popularity of the terms. Rows of another country, and rows without figures, are skipped. Throws
 * ReadFailure when no row can be used.
 */
export function popularityIn(
  rows: readonly PlatformRow[],
  { account, country, sunday }: { account: string; country: string; sunday: string },
  { seenAt, sha256 }: About,
  aside = new PutAside(),
): AdsPopularityObservation {
  const listed: AdsPopularityRow[] = []
  aside.each(rows, rowName, (row) => {
    const read = countryIn(row, "countryOrRegion")
    if (read !== country) throw new ReadFailure("mismatched", `it is for ${read ?? "no country"}, not ${country}`)
    const [term, genre] = [termIn(row, "searchTerm"), wordIn(row, "genre")]
    if (term === undefined || genre === undefined) throw new ReadFailure("changed", "it has no term or no genre")
    listed.push(
      popularityRow({
        term,
        genre,
        rank: countIn(row, "rankInGenre"),
        inGenre: countIn(row, "searchPopularityInGenre"),
        overall100: countIn(row, "searchPopularity1to100"),
        overall5: countIn(row, "searchPopularity1to5"),
      }),
    )
  })
  aside.assertSome(listed)
  const sorted = listed.sort((a, b) => (a.genre === b.genre ? a.rank - b.rank : a.genre < b.genre ? -1 : 1))
  const about = { kind: "ads_popularity", source: "apple-ads-popularity", account, country, day: sunday }
  return { ...HEAD, ...about, seenAt, sha256, rows: sorted } as AdsPopularityObservation
}
