import { hash } from "node:crypto"
import { perSecondCounter } from "../../access/limits/limiter.ts"
import { sentenceOf } from "../../alerts/alert.ts"
import type { Side } from "../../core/observation/provenance.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import { type CsvCell, csvRecord } from "../../lib/csv.ts"
import { dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import { findApp } from "../../tracking/tracked-app.ts"
import { STORE_NAMES } from "../../ui/source-names.ts"
import type { LinkAnswer, LinkKind, LinkParts } from "../link-kind.ts"
import { type AtomEntry, atomFeed, tagOf } from "./atom.ts"
import { datasetOf } from "./datasets.ts"
import { alertCells, readPublicAlerts, readPublicReviews, readRankCells, reviewCells } from "./rows.ts"
import { findFeed, type StoredFeed } from "./store.ts"

/** Maximum requests per second and feed in this process. Feed readers and spreadsheets ask a few times per hour. */
const PER_SECOND = 2

const TEXT = { "content-type": "text/plain; charset=utf-8", "cache-control": "private, no-store" }

/**
 * Serves feeds, whose content stays current, to feed readers and spreadsheets. Reading a feed is free; a rate limit
 * applies.
 */
export function createFeeds(): LinkKind {
  const count = perSecondCounter()
  return {
    path: "/feeds/:token",
    methods: ["GET", "HEAD"],
    // clients may store the feed, but ask each time whether it changed
    headers: { "cache-control": "private, no-cache", "content-security-policy": "default-src 'none'; sandbox" },
    async open({ parts, token, request }) {
      const feed = await parts.gate.run(() => findFeed(parts.sql, token))
      if (feed === null) return GONE
      if (!count(token, PER_SECOND, parts.now()).allowed) return BUSY
      const text = await parts.gate.run(() => textOf(feed, parts, token))
      return text === null ? GONE : answerOf(request, feed, text)
    },
    refused: ({ status, message }) => problem(status, message),
  }
}

function problem(status: number, text: string, headers: Record<string, string> = {}): LinkAnswer {
  return { status, headers: { ...TEXT, ...headers }, body: `${text}\n` }
}

/**
 * The response for a feed that is unknown, withdrawn or ended. It is the same in each case, so that it does not reveal
 * which feeds existed.
 */
const GONE = problem(404, "There is no feed at this address: it was withdrawn or never existed.")
const BUSY = problem(429, `This feed is read too often. Read it at most ${PER_SECOND} times per second.`, {
  "retry-after": "1",
})

const TYPES = { atom: "application/atom+xml; charset=utf-8", csv: "text/csv; charset=utf-8; header=present" }

/** The tag is weak, because a compressed response has the same tag. */
function answerOf(request: Request, { format }: StoredFeed, text: string): LinkAnswer {
  const etag = `W/"${hash("sha256", text, "base64url").slice(0, 27)}"`
  const matched = request.headers.get("if-none-match")?.split(",") ?? []
  const isSame = matched.some((tag) => tag.trim() === "*" || `W/${tag.trim().replace(/^W\//, "")}` === etag)
  if (isSame) return { status: 304, headers: { etag }, body: null }
  return { status: 200, headers: { etag, "content-type": TYPES[format] }, body: text }
}

/** Returns the content of a feed. Null if the app was removed meanwhile. */
async function textOf(feed: StoredFeed, parts: LinkParts, token: string): Promise<string | null> {
  const { workspaceId, appId, storefront } = feed
  try {
    const app = await findApp(parts.sql, { workspaceId, appList: null }, appId, storefront ?? undefined)
    return feed.columns === null ? await atomOf(feed, app, parts, token) : await csvOf(feed, feed.columns, app, parts)
  } catch (error) {
    if (error instanceof Fault && error.code === "not_found") return null
    throw error
  }
}

function sideOf({ platform, storefront }: StoredFeed): Side {
  if (platform === null || storefront === null) throw new Error("a feed of alerts has no storefront")
  return { platform, storefront }
}

async function atomOf(feed: StoredFeed, app: TrackedApp, parts: LinkParts, token: string): Promise<string> {
  const { dataset, createdAt } = feed
  const { sql, now, publicUrl } = parts
  const title = `${app.name}: ${datasetOf(dataset).title.toLowerCase()}`
  const self = `${publicUrl}/feeds/${token}`
  const head = { self, createdAt, title, id: tagOf(publicUrl, `${dataset}/${app.id}`) }
  if (dataset === "alerts") {
    const alerts = await readPublicAlerts(sql, feed.workspaceId, app)
    const entries = alerts.map((alert): AtomEntry => {
      const sentence = sentenceOf(alert)
      return {
        id: tagOf(publicUrl, `alert/${alert.id}`),
        title: sentence,
        published: alert.at,
        updated: alert.at,
        content: `${app.name}: ${sentence} (${alert.day})`,
        category: alert.type,
      }
    })
    return atomFeed({ ...head, entries })
  }
  const side = sideOf(feed)
  const reviews = await readPublicReviews(sql, app, side, dayOf(now()))
  const storeId = side.platform === "ios" ? app.iosId : app.androidPkg
  const entries = reviews.map(({ id, at, stars, title: heading, text, version }): AtomEntry => {
    const rated = "★★★★★☆☆☆☆☆".slice(5 - stars, 10 - stars)
    return {
      id: tagOf(publicUrl, `review/${side.platform}/${encodeURIComponent(`${storeId}`)}/${encodeURIComponent(id)}`),
      title: heading ? `${rated} ${heading}` : rated,
      published: at,
      updated: at,
      content: version === null ? text : `${text}\n\nVersion ${version}`,
      category: `${stars} stars`,
    }
  })
  const place = `${storefrontName(side.storefront)}, ${STORE_NAMES[side.platform]}`
  const id = `${head.id}/${side.platform}/${side.storefront}`
  return atomFeed({ ...head, id, title: `${head.title}, ${place}`, entries })
}

/**
 * Returns a table without a byte order mark, because spreadsheets that import a table from an address would show the
 * mark as a character.
 */
async function csvOf(feed: StoredFeed, columns: string[], app: TrackedApp, { sql, now }: LinkParts): Promise<string> {
  const rows = await cellsOf(feed, app, sql, now())
  return [columns, ...rows.map((row) => columns.map((column) => row[column] ?? null))].map(csvRecord).join("")
}

async function cellsOf(
  feed: StoredFeed,
  app: TrackedApp,
  sql: LinkParts["sql"],
  now: Date,
): Promise<Record<string, CsvCell>[]> {
  if (feed.dataset === "alerts")
    return (await readPublicAlerts(sql, feed.workspaceId, app)).map((alert) => alertCells(alert, app))
  const side = sideOf(feed)
  if (feed.dataset === "ranks") return await readRankCells(sql, app, side, now)
  return (await readPublicReviews(sql, app, side, dayOf(now))).map((review) => reviewCells(review, side))
}
