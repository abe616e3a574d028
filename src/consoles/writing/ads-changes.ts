import type { PlatformDocument, PlatformWay } from "../../lib/accounts/platform.ts"
import { dayOf } from "../../lib/days.ts"
import { changePath, changesQuery } from "../sources/ads/requests.ts"

/** Maximum time that the platform's clock may be behind ours. */
export const CLOCKS_MS = 2 * 60_000

/** A change of one entity by an API user. */
interface ApiChange {
  entityType: "Campaign" | "Keyword"
  entityId: string
  field: string
  to: string
}

/** Returns true if the platform's history contains this change, made by a program since `since`. */
export async function isInHistory(
  way: PlatformWay,
  change: ApiChange,
  since: Date,
  signal: AbortSignal,
): Promise<boolean> {
  const from = new Date(since.getTime() - CLOCKS_MS)
  const { path, body } = changesQuery({ from: dayOf(from), to: dayOf(new Date()) })
  const filters = [...(body.filters ?? []), { field: "entityId", operator: "EQUALS", value: change.entityId }]
  const listed = await way.ask({ path, body: { ...body, filters, pagination: { offset: 0, pageSize: 1_000 } } }, signal)
  for (const { userType, eventTime, entityType, metas } of thingsIn(listed)) {
    const isOurs = userType === "CUSTOMER_API" && entityType === change.entityType
    if (!isOurs || !(timeOf(eventTime) >= from.getTime())) continue
    for (const meta of Array.isArray(metas) ? metas : []) {
      const { [change.entityType]: id, detailId } = (meta ?? {}) as Record<string, unknown>
      if (String(id) !== change.entityId || typeof detailId !== "string") continue
      const details = await way.ask({ path: changePath(detailId) }, signal)
      if (thingsIn(details).some((detail) => holds(detail, change))) return true
    }
  }
  return false
}

/** Returns the entities of a response, whether it has one or a list. */
export function thingsIn(document: PlatformDocument | null): Record<string, unknown>[] {
  const result = document?.result
  const list = Array.isArray(result) ? result : [result]
  return list.filter((item) => typeof item === "object" && item !== null)
}

function holds({ details }: Record<string, unknown>, { field, to }: ApiChange): boolean {
  const changes = (Array.isArray(details) ? details : []).flatMap((detail) => (detail?.changes as unknown[]) ?? [])
  return changes.some((change) => {
    const { field: name, newValues } = change as { field?: unknown; newValues?: unknown }
    const values = (Array.isArray(newValues) ? newValues : []).map((value) => plain(String(value)))
    // The name of a budget's field is a path of several parts.
    return typeof name === "string" && name.split(".")[0] === field && values.includes(plain(to))
  })
}

/** "20" and "20.00" are the same money. */
function plain(value: string): string {
  return /^\d+(\.\d+)?$/.test(value) ? String(Number(value)) : value
}

/** Parses a time. A time without a zone is in UTC. */
export function timeOf(value: unknown): number {
  const text = String(value)
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`)
}
