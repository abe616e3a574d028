import { randomUUID } from "node:crypto"
import type { Role } from "./stand-in.ts"

type Attributes = Record<string, unknown>
type Relationships = Record<string, { data?: { id?: string } }>

export interface ShelfThing {
  id: string
  attributes: Attributes
}

export interface ShelfReview extends ShelfThing {
  reply: ShelfThing | null
}

/** A version, or the app's information, with its texts by locale. */
export interface ShelfHalf extends ShelfThing {
  texts: ShelfThing[]
}

/** The parts of an app that can be changed at the console. */
export interface ConsoleShelf {
  reviews: ShelfReview[]
  versions: ShelfHalf[]
  infos: ShelfHalf[]
  /** All change requests as received, accepted or not. */
  sent: { method: string; path: string; body: unknown }[]
  /** Names that other apps in the store already use. */
  takenNames: string[]
  /** Number of resources per page. */
  pageSize: number
}

export function emptyShelf(): ConsoleShelf {
  return { reviews: [], versions: [], infos: [], sent: [], takenNames: [], pageSize: 200 }
}

export interface ShelfCall {
  method: string
  url: URL
  body: Record<string, unknown> | undefined
  role: Role
}

const WRITERS: Role[] = ["ADMIN", "APP_MANAGER"]
const REPLIERS: Role[] = [...WRITERS, "CUSTOMER_SUPPORT"]
const VERSION_EDITABLE = [
  "PREPARE_FOR_SUBMISSION",
  "DEVELOPER_REJECTED",
  "REJECTED",
  "METADATA_REJECTED",
  "INVALID_BINARY",
]
const INFO_EDITABLE = ["PREPARE_FOR_SUBMISSION", "DEVELOPER_REJECTED", "REJECTED", "WAITING_FOR_REVIEW"]

/** Returns null for requests that it does not handle. */
export function answerShelf(shelf: ConsoleShelf, call: ShelfCall): Response | null {
  const { method, url, role } = call
  if (method !== "GET") shelf.sent.push({ method, path: url.pathname, body: call.body })
  const [, collection = "", id = "", below = ""] = /^\/v1\/(\w+)(?:\/([\w-]+))?(?:\/(\w+))?$/.exec(url.pathname) ?? []
  if (collection === "customerReviews" || collection === "customerReviewResponses" || below === "customerReviews") {
    if (url.searchParams.get("limit") === "1") return null
    return REPLIERS.includes(role) ? answerReviews(shelf, call, { collection, id, below }) : forbidden()
  }
  const kinds = { appStoreVersions: shelf.versions, appInfos: shelf.infos }
  const isListing = below in kinds || collection in kinds || /^app(StoreVersion|Info)Localizations$/.test(collection)
  if (!isListing) return null
  return WRITERS.includes(role) ? answerListing(shelf, call, { collection, id, below }) : forbidden()
}

interface Place {
  collection: string
  id: string
  below: string
}

function answerReviews(
  shelf: ConsoleShelf,
  { method, url, body }: ShelfCall,
  { collection, id, below }: Place,
): Response {
  if (method === "GET" && below === "customerReviews") return listReviews(shelf, url)
  if (method === "GET" && collection === "customerReviews") {
    const review = shelf.reviews.find((candidate) => candidate.id === id)
    if (!review) return notFound()
    const included = review.reply ? [{ type: "customerReviewResponses", ...review.reply }] : []
    return Response.json({ data: resource("customerReviews", review), included })
  }
  if (method !== "POST" || collection !== "customerReviewResponses") return refusal(405, "METHOD_NOT_ALLOWED", "No.")
  const { attributes, relationships } = (body?.data ?? {}) as { attributes?: Attributes; relationships?: Relationships }
  const review = shelf.reviews.find((candidate) => candidate.id === relationships?.review?.data?.id)
  if (!review) return notFound()
  const text = String(attributes?.responseBody ?? "")
  if (text.length > 5_970) return refusal(409, "ENTITY_ERROR.ATTRIBUTE.INVALID.TOO_LONG", "The response is too long.")
  const lastModifiedDate = new Date().toISOString()
  review.reply = {
    id: review.reply?.id ?? randomUUID(),
    attributes: { responseBody: text, lastModifiedDate, state: "PENDING_PUBLISH" },
  }
  return Response.json({ data: resource("customerReviewResponses", review.reply) }, { status: 201 })
}

function listReviews(shelf: ConsoleShelf, url: URL): Response {
  const [territory, rating] = [url.searchParams.get("filter[territory]"), url.searchParams.get("filter[rating]")]
  const found = shelf.reviews
    .filter(({ attributes }) => attributes.territory === territory && String(attributes.rating) === rating)
    .toSorted((a, b) => String(b.attributes.createdDate).localeCompare(String(a.attributes.createdDate)))
  const from = Number(url.searchParams.get("cursor") ?? 0)
  const page = found.slice(from, from + shelf.pageSize)
  const next = new URL(url)
  next.searchParams.set("cursor", String(from + shelf.pageSize))
  const links = { self: url.href, ...(from + shelf.pageSize < found.length && { next: next.href }) }
  return Response.json({ data: page.map((review) => resource("customerReviews", review)), links })
}

function answerListing(
  shelf: ConsoleShelf,
  { method, url, body }: ShelfCall,
  { collection, id, below }: Place,
): Response {
  const isInfo = /[iI]nfo/.test(collection + below)
  const halves = isInfo ? shelf.infos : shelf.versions
  const type = isInfo ? "appInfoLocalizations" : "appStoreVersionLocalizations"
  if (method === "GET" && (below === "appStoreVersions" || below === "appInfos"))
    return Response.json({ data: halves.map((half) => resource(below, half)), links: { self: url.href } })
  if (method === "GET") {
    const half = halves.find((candidate) => candidate.id === id)
    return half ? Response.json({ data: half.texts.map((text) => resource(type, text)), links: {} }) : notFound()
  }
  if (method === "POST") return addTexts(shelf, halves, { isInfo, type, body })
  const half = halves.find(({ texts }) => texts.some((text) => text.id === id))
  const texts = half?.texts.find((text) => text.id === id)
  if (!half || !texts) return notFound()
  const { attributes = {} } = (body?.data ?? {}) as { attributes?: Attributes }
  const no = refusalOf(shelf, half, isInfo, attributes)
  if (no) return no
  if (method === "DELETE") {
    half.texts.splice(half.texts.indexOf(texts), 1)
    return new Response(null, { status: 204 })
  }
  Object.assign(texts.attributes, attributes)
  return Response.json({ data: resource(type, texts) })
}

interface TextsToAdd {
  isInfo: boolean
  type: string
  body: Record<string, unknown> | undefined
}

function addTexts(shelf: ConsoleShelf, halves: ShelfHalf[], { isInfo, type, body }: TextsToAdd): Response {
  const { attributes = {}, relationships } = (body?.data ?? {}) as {
    attributes?: Attributes
    relationships?: Relationships
  }
  const owner = relationships?.[isInfo ? "appInfo" : "appStoreVersion"]?.data?.id
  const half = halves.find((candidate) => candidate.id === owner)
  if (!half) return notFound()
  const no = refusalOf(shelf, half, isInfo, attributes)
  if (no) return no
  if (isInfo && typeof attributes.name !== "string")
    return refusal(409, "ENTITY_ERROR.ATTRIBUTE.REQUIRED", "You must provide a value for the attribute 'name'.")
  if (half.texts.some((text) => text.attributes.locale === attributes.locale))
    return refusal(409, "ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE", "The locale exists already.")
  const created = { id: randomUUID(), attributes: { ...attributes } }
  half.texts.push(created)
  return Response.json({ data: resource(type, created) }, { status: 201 })
}

function refusalOf(shelf: ConsoleShelf, half: ShelfHalf, isInfo: boolean, attributes: Attributes): Response | null {
  const state = String(half.attributes[isInfo ? "state" : "appVersionState"])
  if (!(isInfo ? INFO_EDITABLE : VERSION_EDITABLE).includes(state))
    return refusal(409, "STATE_ERROR", "The attribute cannot be edited in this state.")
  if (typeof attributes.name === "string" && shelf.takenNames.includes(attributes.name))
    return refusal(409, "ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE", "The app name you entered is already being used.")
  const bad = Object.values(attributes).find((value) => typeof value === "string" && value.includes("🚫"))
  return bad === undefined
    ? null
    : refusal(409, "ENTITY_ERROR.ATTRIBUTE.INVALID", "An attribute value\u0007 has invalid characters.")
}

function resource(type: string, { id, attributes }: ShelfThing) {
  return { type, id, attributes, links: {} }
}

function notFound(): Response {
  return refusal(404, "NOT_FOUND", "The specified resource does not exist.")
}

function forbidden(): Response {
  return refusal(403, "FORBIDDEN_ERROR", "This request is forbidden for security reasons.")
}

export function refusal(status: number, code: string, detail: string): Response {
  return Response.json(
    { errors: [{ id: randomUUID(), status: String(status), code, title: code, detail }] },
    { status },
  )
}
