import type { JsonObject } from "./queries.ts"
import { type AdsState, listOf, refusal } from "./stand-in.ts"

const NAMES: Record<string, string> = {
  campaigns: "Campaign",
  adgroups: "AdGroup",
  keywords: "Keyword",
  "negative-keywords": "NegativeKeyword",
}

const CHANGEABLE: Record<string, readonly string[]> = {
  campaigns: ["status", "dailyBudget", "name"],
  keywords: ["status", "bid"],
}

/**
 * Applies a partial change. The change is refused as a whole if one field cannot be changed. Each change is added to
 * the history.
 */
export function changeThing(state: AdsState, collection: string, id: string, body: JsonObject): Response {
  const stored = listOf(state, collection)?.find((item) => String(item.id) === id)
  if (!stored || stored.deleted === true) return refusal(404, "NOT_FOUND", "There is no such thing.")
  const unknownField = Object.keys(body).find((name) => !CHANGEABLE[collection]?.includes(name))
  if (unknownField !== undefined)
    return refusal(400, "FIELD_NOT_UPDATABLE", `${unknownField} cannot be changed.`, unknownField)
  if (body.bid === null) return refusal(400, "REQUIRED", "A bid cannot be taken away.", "bid")
  noteChange(state, { collection, stored, eventType: "UPDATE", after: body })
  Object.assign(stored, body, { modificationTime: now() })
  return Response.json({ result: stored })
}

/** Texts are compared without regard to case. */
export function createThing(state: AdsState, collection: string, body: JsonObject): Response {
  const list = listOf(state, collection)
  if (!list || !/keywords$/.test(collection)) return refusal(404, "NOT_FOUND", "There is nothing to create.")
  if (typeof body.text !== "string" || body.text.trim() === "")
    return refusal(400, "REQUIRED", "A text is needed.", "text")
  if (collection === "negative-keywords" && (body.campaignId === undefined) === (body.adGroupId === undefined))
    return refusal(400, "INVALID_VALUE", "Either a campaign or an ad group.", "campaignId")
  const same = (item: JsonObject) =>
    item.deleted !== true &&
    String(item.text).toLowerCase() === body.text.toLowerCase() &&
    item.matchType === body.matchType &&
    (item.adGroupId ?? null) === (body.adGroupId ?? null) &&
    (body.campaignId === undefined || item.campaignId === body.campaignId)
  if (list.some(same)) return refusal(400, "DUPLICATE_KEYWORD", "It is there already.", "text")
  const group = state.adgroups.find(({ id }) => id === Number(body.adGroupId))
  const ids = { campaignId: body.campaignId ?? group?.campaignId, deleted: false }
  const times = { creationTime: now(), modificationTime: now() }
  const created = { id: 900_000_000 + list.length, status: "ENABLED", bid: null, ...body, ...ids, ...times }
  list.push(created)
  noteChange(state, { collection, stored: {}, eventType: "CREATE", after: created })
  return Response.json({ result: created }, { status: 201 })
}

function noteChange(
  { changes }: AdsState,
  {
    collection,
    stored,
    eventType,
    after,
  }: { collection: string; stored: JsonObject; eventType: "CREATE" | "UPDATE"; after: JsonObject },
): void {
  const { id, campaignId, adGroupId, text, name } = { ...stored, ...after }
  const values = (value: unknown) => (value === undefined || value === null ? [] : [textOf(value)])
  changes.push({
    transactionId: crypto.randomUUID(),
    entityType: NAMES[collection]!,
    entityId: String(id),
    eventType,
    eventTime: new Date().toISOString(),
    userType: "CUSTOMER_API" as const,
    modifiedBy: "98765432",
    meta: { campaignId, adGroupId, text, name },
    changes: Object.keys(after).map((field) => {
      return { field, oldValues: values(stored[field]), newValues: values(after[field]) }
    }),
  })
}

function textOf(value: unknown): string {
  const { amount, value: inner } = (value ?? {}) as JsonObject
  return String(amount ?? inner?.amount ?? (typeof value === "object" ? JSON.stringify(value) : value))
}

function now(): string {
  return new Date().toISOString().slice(0, -1)
}
