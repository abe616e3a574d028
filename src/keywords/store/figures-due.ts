import { type AnyKind, kindNamed } from "../../core/kind.ts"
import { type AnyObservation, isOfStore } from "../../core/observation/provenance.ts"
import type { RecordedReadings } from "../../core/recording.ts"
import type { Tx } from "../../database/types.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { SHOWN_DAYS } from "./keyword-figures.ts"
import { YOUNG_DAYS } from "./keyword-inputs.ts"

/**
 * Marks the apps, names, prefixes and terms that an import changed, in the transaction that stores it, so that
 * deriveFigures recalculates the figures based on them. Takes its locks after those of lists and apps.
 */
export async function markFigures(
  tx: Tx,
  { readings, changed, renamed, kinds, now }: Omit<RecordedReadings, "rated" | "counted" | "ids" | "isImport">,
): Promise<void> {
  const since = oldestDay(now)
  const marks = [
    ...readings.flatMap((reading) => markOf(reading, kinds, since)),
    ...changed.map((app) => ({ kind: "app", platform: null, storefront: app.storefront, subject: String(app.appId) })),
    ...renamed.map((app) => ({ kind: "name", platform: null, storefront: app.storefront, subject: String(app.appId) })),
  ]
  if (marks.length === 0) return
  await tx`
    insert into figure_due (kind, platform, storefront, subject)
    select distinct m.kind, coalesce(m.platform, a.platform), m.storefront, m.subject
    from jsonb_to_recordset(${tx.json(marks)}) m (kind text, platform text, storefront text, subject text)
    left join store_app a on a.id = case when m.platform is null then m.subject::int end
    order by 1, 2, 3, 4
    on conflict do nothing`
}

/** Returns the oldest day that matters: the oldest figure shown may use readings of YOUNG_DAYS before it. */
export function oldestDay(now: Date): string {
  return addDays(dayOf(now), -SHOWN_DAYS - YOUNG_DAYS)
}

function markOf(reading: AnyObservation, kinds: readonly AnyKind[], since: string) {
  const { seenAt, storefront } = reading
  const mark = kindNamed(reading.kind, kinds)?.figures?.(reading)
  if (!mark || !isOfStore(reading) || storefront === undefined || dayOf(seenAt) < since) return []
  return [{ ...mark, platform: reading.platform, storefront }]
}
