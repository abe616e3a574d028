import type { PlayStandIn, PublisherRequest } from "./stand-in.ts"
import { googleRefusal } from "./stand-in.ts"

/** A review in the form of Google Play Console. Times are in milliseconds since 1970. */
export interface ShelfReview {
  id: string
  author: string
  stars: number
  /** "title<tab>text", as Google writes it. */
  text: string
  atMs: number
  /** Further fields of the user's comment. */
  fields?: Record<string, unknown>
  reply?: { text: string; atMs: number }
}

export interface ReviewShelf {
  reviews: ShelfReview[]
  /** Maximum number of reviews in a page. */
  pageSize: number
  /** All received replies, accepted or not. */
  sent: { path: string; text: unknown }[]
}

const WEEK_MS = 7 * 86_400_000
const LONGEST = 350

/** Makes the stand-in respond to requests about the reviews of an app, with the limits of the publisher API. */
export function reviewShelf(standIn: PlayStandIn, packageName: string): ReviewShelf {
  const shelf: ReviewShelf = { reviews: [], pageSize: 100, sent: [] }
  const root = `/androidpublisher/v3/applications/${packageName}/reviews`
  standIn.publisher = (request) => {
    if (request.pathname === root) return listReviews(shelf, request)
    const [, id = "", isReply] = /^\/([^/:]+)(:reply)?$/.exec(request.pathname.slice(root.length)) ?? []
    const review = shelf.reviews.find((candidate) => candidate.id === decodeURIComponent(id))
    if (request.method === "POST" && isReply) return replyTo(shelf, request, review)
    return review ? Response.json(documentOf(review)) : googleRefusal(404, "notFound", "Review not found.")
  }
  return shelf
}

function listReviews({ reviews, pageSize }: ReviewShelf, { query }: PublisherRequest): Response {
  const week = reviews
    .filter(({ atMs, text }) => atMs > Date.now() - WEEK_MS && text !== "")
    .toSorted((a, b) => b.atMs - a.atMs)
  const size = Math.min(pageSize, Number(query.get("maxResults") ?? 10))
  const start = Number(query.get("token") ?? 0)
  const page = week.slice(start, start + size)
  const isLast = start + size >= week.length
  return Response.json({
    ...(page.length > 0 && { reviews: page.map(documentOf) }),
    ...(!isLast && { tokenPagination: { nextPageToken: String(start + size) } }),
  })
}

function replyTo(shelf: ReviewShelf, { pathname, body }: PublisherRequest, review: ShelfReview | undefined): Response {
  const text = (body as { replyText?: unknown } | undefined)?.replyText
  shelf.sent.push({ path: pathname, text })
  if (!review) return googleRefusal(404, "notFound", "Review not found.")
  if (typeof text !== "string" || text === "") return googleRefusal(400, "required", "Reply text is required.")
  if (text.length > LONGEST) return googleRefusal(400, "invalid", "The reply text is too long.")
  review.reply = { text, atMs: Date.now() }
  const { seconds, nanos } = momentOf(review.reply.atMs)
  return Response.json({ result: { replyText: text, lastEdited: { seconds, nanos } } })
}

function documentOf({ id, author, stars, text, atMs, fields, reply }: ShelfReview) {
  const userComment = {
    text,
    lastModified: momentOf(atMs),
    starRating: stars,
    reviewerLanguage: "en",
    device: "panther",
    androidOsVersion: 34,
    appVersionCode: 410,
    appVersionName: "4.1",
    thumbsUpCount: 0,
    thumbsDownCount: 0,
    deviceMetadata: { productName: "panther (Pixel 7)", manufacturer: "Google" },
    ...fields,
  }
  const replies = reply ? [{ developerComment: { text: reply.text, lastModified: momentOf(reply.atMs) } }] : []
  return { reviewId: id, authorName: author, comments: [{ userComment }, ...replies] }
}

/** Google writes 64-bit numbers as text. */
function momentOf(ms: number) {
  return { seconds: String(Math.floor(ms / 1_000)), nanos: (ms % 1_000) * 1e6 }
}
