import type {
  AdsChangesObservation,
  AdsPopularityObservation,
  AdsPopularityRow,
  ChangeRow,
} from "../../../observations/kinds/ads-insights.ts"
import { type About, ReadFailure } from "../../source.ts"
import { countIn, idOrNothing, type PlatformRow, termIn, within, wordIn } from "./said.ts"

/** Raised whenever insights and changes are read otherwise. */
const PARSER = 1
const HEAD = { platform: "ios", parser: PARSER, origin: "own" } as const

/** A thing that was changed, as the summary names it. */
export interface ChangeNotice {
  /** "Keyword.81.0eee6ae3": what its details are asked by. */
  id: string
  /** UTC. */
  day: string
}

/** What changed, without who did it. Throws ReadFailure. */
export function noticesIn(summaries: readonly PlatformRow[]): ChangeNotice[] {
  const notices = summaries.flatMap((summary) => {
    const day = timeIn(summary).slice(0, 10)
    const metas = Array.isArray(summary.metas) ? (summary.metas as PlatformRow[]) : []
    return metas.flatMap((meta) => wordIn(meta, "detailId") ?? []).map((id) => ({ id, day }))
  })
  return [...new Map(notices.map((notice) => [notice.id, notice])).values()]
}

/** The fields that a change changed; one that names none counts as one of its own. Throws ReadFailure. */
export function changeRows(id: string, result: unknown): ChangeRow[] {
  const records = (Array.isArray(result) ? result : [result]) as PlatformRow[]
  return records.flatMap((record) => {
    const meta = within(record, "entityMetaData")
    const entity = wordIn(record, "entityType") ?? id.split(".")[0]!
    const entityId = wordIn(record, "entityId") ?? id.split(".")[1] ?? id
    const campaign = entity === "Campaign" ? entityId : idOrNothing(meta, "campaignId")
    const name = wordIn(meta, "text") ?? wordIn(meta, "name")
    const head = {
      ...{ change: id, at: timeIn(record), by: whoIn(record), event: eventIn(record), entity, entityId },
      ...(campaign !== undefined && /^\d{1,20}$/.test(campaign) && { campaign }),
      ...(name !== undefined && { name }),
    }
    const fields = fieldsIn(record)
    return fields.length > 0 ? fields.map((field) => ({ ...head, ...field })) : [{ ...head, field: "all" }]
  })
}

function fieldsIn(record: PlatformRow): Pick<ChangeRow, "field" | "from" | "to">[] {
  const details = Array.isArray(record.details) ? (record.details as PlatformRow[]) : []
  return details.flatMap(({ changes }) => {
    return (Array.isArray(changes) ? (changes as PlatformRow[]) : []).map((change) => {
      const [from, to] = [valuesIn(change.oldValues), valuesIn(change.newValues)]
      return { field: wordIn(change, "field") ?? "unknown", ...(from && { from }), ...(to && { to }) }
    })
  })
}

function valuesIn(values: unknown): string | undefined {
  const words = (Array.isArray(values) ? values : []).map(String).filter((word) => word.trim() !== "")
  return words.length > 0 ? words.join(", ").slice(0, 100) : undefined
}

const WHO: Record<string, ChangeRow["by"]> = { CUSTOMER: "dashboard", CUSTOMER_API: "api", APPLE_SUPPORT: "apple" }

function whoIn(record: PlatformRow): ChangeRow["by"] {
  const who = WHO[String(record.userType)]
  if (who === undefined) throw new ReadFailure("changed", "a change of Apple Ads is by nobody known")
  return who
}

function eventIn({ eventType }: PlatformRow): ChangeRow["event"] {
  if (eventType === "CREATE" || eventType === "UPDATE" || eventType === "DELETE") return eventType
  throw new ReadFailure("changed", "a change of Apple Ads is none that is known")
}

/** In UTC, with its zone or without. */
function timeIn({ eventTime }: PlatformRow): string {
  const said = String(eventTime)
  const at = new Date(/(Z|[+-]\d\d:\d\d)$/.test(said) ? said : `${said}Z`)
  if (Number.isNaN(at.getTime())) throw new ReadFailure("changed", "a change of Apple Ads has no time")
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

/** Throws ReadFailure: `mismatched` where it is of another week or country. */
export function popularityIn(
  rows: readonly PlatformRow[],
  { account, country, sunday }: { account: string; country: string; sunday: string },
  { seenAt, sha256 }: About,
): AdsPopularityObservation {
  const listed = rows.map((row): AdsPopularityRow => {
    const said = String(row.countryOrRegion).toLowerCase()
    if (said !== country) throw new ReadFailure("mismatched", `the popularity is of ${said}, not ${country}`)
    const [term, genre] = [termIn(row, "searchTerm"), wordIn(row, "genre")]
    if (term === undefined || genre === undefined)
      throw new ReadFailure("changed", "a popularity is of no term or of no genre")
    return {
      ...{ term, genre, rank: countIn(row, "rankInGenre"), inGenre: countIn(row, "searchPopularityInGenre") },
      ...{ overall100: countIn(row, "searchPopularity1to100"), overall5: countIn(row, "searchPopularity1to5") },
    }
  })
  const sorted = listed.sort((a, b) => (a.genre === b.genre ? a.rank - b.rank : a.genre < b.genre ? -1 : 1))
  const about = { kind: "ads_popularity", source: "apple-ads-popularity", account, country, day: sunday }
  return { ...HEAD, ...about, seenAt, sha256, rows: sorted } as AdsPopularityObservation
}
