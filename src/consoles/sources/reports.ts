import type { AccountSource, Report } from "../../lib/upstreams.ts"
import { jsonOrNothing } from "../../measuring/parsing/json.ts"
import { PutAside } from "../../measuring/parsing/put-aside.ts"
import type { About } from "../../measuring/source.ts"
import type { SalesObservation } from "../kinds/sales.ts"
import type {
  OfferRedemptionsObservation,
  SubscriptionEventsObservation,
  SubscriptionsObservation,
} from "../kinds/subscriptions.ts"
import { reportLines } from "./report-lines.ts"
import { type ReportDay, redemptionRows, salesRows, subscriptionEventRows, subscriptionRows } from "./report-rows.ts"

export type ReportReading =
  | SalesObservation
  | SubscriptionsObservation
  | SubscriptionEventsObservation
  | OfferRedemptionsObservation

/** One day of a report, read with one account. */
interface ReportQuestion {
  account: string
  report: Report
  day: string
}

type ReportRows = (lines: AsyncIterable<string>, day: ReportDay) => Promise<readonly object[]>

const SOURCE: Record<Report, { source: AccountSource; rows: ReportRows }> = {
  sales: { source: "asc-sales", rows: salesRows },
  subscriptions: { source: "asc-subscriptions", rows: subscriptionRows },
  subscription_events: { source: "asc-subscription-events", rows: subscriptionEventRows },
  offer_redemptions: { source: "asc-offer-redemptions", rows: redemptionRows },
}

/** Raise this whenever reports are parsed differently. */
const PARSER = 2

/**
 * Parses a response. Returns no rows if the response states that nothing was sold. Returns "late" if the report is not
 * published yet, and for any 404 with an unknown text, because that text does not prove an empty day. Throws
 * ReadFailure when no row can be read.
 */
export async function reportIn(
  { status, bytes }: { status: number; bytes: Uint8Array },
  { account, report, day }: ReportQuestion,
  { seenAt, sha256 }: About,
  aside = new PutAside(),
): Promise<ReportReading | "late"> {
  if (status === 404 && !saysNothingSold(bytes)) return "late"
  const { source, rows: read } = SOURCE[report]
  const rows = status === 404 ? [] : await read(reportLines(bytes), { day, aside })
  aside.assertSome(rows)
  const head = { kind: report, source, platform: "ios", seenAt, parser: PARSER, origin: "own", sha256 }
  return { ...head, account, day, rows } as ReportReading
}

/** Matches "There were no sales for the date specified." */
export function saysNothingSold(bytes: Uint8Array): boolean {
  const body = jsonOrNothing(new TextDecoder().decode(bytes)) as { errors?: { detail?: unknown }[] } | undefined
  const details = Array.isArray(body?.errors) ? body.errors.map((error) => error?.detail) : []
  return details.some((detail) => typeof detail === "string" && NOTHING_SOLD.test(detail))
}

const NOTHING_SOLD = new RegExp(
  [
    String.raw`\bthere (were|are) no (sales|subscriptions?|subscription events|events|`,
    "(subscription )?(offer )?(code )?redemptions?) for the (date|period)",
  ].join(""),
  "i",
)
