import { createHash } from "node:crypto"
import { gzipSync } from "node:zlib"
import type { Role, StandIn } from "./stand-in.ts"

/** A request for an app's reports. The console stops making reports that are not read. */
export interface AnalyticsRequest {
  id: string
  app: string
  stopped?: boolean
}

/** A file of a report, with one processing date. */
export interface AnalyticsFile {
  app: string
  report: "App Store Discovery and Engagement Standard" | "App Downloads Standard"
  processed: string
  /** The text of each of its parts. */
  parts: string[]
}

export interface Analytics {
  requests: AnalyticsRequest[]
  files: AnalyticsFile[]
  /** How many of the next requested URLs count as expired. */
  expired: number
  /** True if the console lists a wrong checksum for each part. */
  wrongChecksum: boolean
  /** Processing dates of files that are still listed but no longer available. */
  removedDates: string[]
  /** Headers of the requests that reached the file host. */
  fetched: Headers[]
  /** App ids of the report requests received. */
  posted: string[]
}

/** The file host. It is separate from the console and must not receive its key. */
export function fileHost(analytics: Analytics) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      analytics.fetched.push(request.headers)
      if (analytics.expired-- > 0) return new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 })
      analytics.expired = 0
      const [, file, part] = /^\/(\d+)\/(\d+)$/.exec(new URL(request.url).pathname) ?? []
      const text = analytics.files[Number(file)]?.parts[Number(part)]
      return text === undefined ? new Response("none", { status: 404 }) : new Response(gzipSync(text))
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}

const list = (data: unknown[], self: string) => Response.json({ data, links: { self } })
const NAMES = [
  "App Store Discovery and Engagement Standard",
  "App Store Discovery and Engagement Detailed",
  "App Downloads Standard",
]

/** Returns null for other paths. If the key lacks the right, the console itself responds. */
export function analyticsAnswer(
  state: StandIn,
  hosted: string,
  { method, pathname, body }: { method: string; pathname: string; body: string },
  role: Role,
  refusal: (status: number, code: string, detail: string) => Response,
): Response | null {
  const { analytics } = state
  if (method === "POST" && pathname === "/v1/analyticsReportRequests") {
    if (role !== "ADMIN") return refusal(403, "FORBIDDEN_ERROR", "The API key in use does not allow this request")
    const { data } = JSON.parse(body)
    const app = data.relationships.app.data.id as string
    if (data.type !== "analyticsReportRequests" || data.attributes.accessType !== "ONGOING")
      return refusal(409, "ENTITY_ERROR.ATTRIBUTE.INVALID", "accessType")
    if (analytics.requests.some((candidate) => candidate.app === app && !candidate.stopped))
      return refusal(409, "STATE_ERROR", "You already have such an entity")
    analytics.posted.push(app)
    const id = `request-${analytics.requests.length}`
    analytics.requests.push({ id, app })
    return Response.json(
      {
        data: {
          type: "analyticsReportRequests",
          id,
          attributes: { accessType: "ONGOING", stoppedDueToInactivity: false },
        },
      },
      { status: 201 },
    )
  }
  const [, app] = /^\/v1\/apps\/(\d+)\/analyticsReportRequests$/.exec(pathname) ?? []
  const isOwn = state.apps.some(({ id }) => id === app)
  if (app !== undefined && isOwn && ["ADMIN", "FINANCE", "SALES"].includes(role)) {
    const appRequests = analytics.requests.filter((candidate) => candidate.app === app)
    return list(
      appRequests.map(({ id, stopped = false }) => ({
        type: "analyticsReportRequests",
        id,
        attributes: { accessType: "ONGOING", stoppedDueToInactivity: stopped },
      })),
      pathname,
    )
  }
  const [, request] = /^\/v1\/analyticsReportRequests\/([\w-]+)\/reports$/.exec(pathname) ?? []
  if (request !== undefined)
    return list(
      NAMES.map((name, place) => ({
        type: "analyticsReports",
        id: `r${place}-${request}`,
        attributes: { name, category: "APP_STORE_ENGAGEMENT" },
      })),
      pathname,
    )
  const [, place, requestId] = /^\/v1\/analyticsReports\/r(\d)-([\w-]+)\/instances$/.exec(pathname) ?? []
  if (place !== undefined) {
    const owner = analytics.requests.find(({ id }) => id === requestId)?.app
    const instances = analytics.files.filter((file) => file.app === owner && file.report === NAMES[Number(place)])
    return list(
      instances.map((file) => ({
        type: "analyticsReportInstances",
        id: `instance-${analytics.files.indexOf(file)}`,
        attributes: { granularity: "DAILY", processingDate: file.processed },
      })),
      pathname,
    )
  }
  const [, instance] = /^\/v1\/analyticsReportInstances\/instance-(\d+)\/segments$/.exec(pathname) ?? []
  if (instance === undefined) return null
  const file = analytics.files[Number(instance)]
  if (!file || analytics.removedDates.includes(file.processed))
    return refusal(404, "NOT_FOUND", "The specified resource does not exist")
  return list(
    file.parts.map((text, part) => {
      const bytes = gzipSync(text)
      const checksum = createHash("md5")
        .update(analytics.wrongChecksum ? "another" : bytes)
        .digest("hex")
      const url = `${hosted}/${instance}/${part}?X-Signature=abc`
      return {
        type: "analyticsReportSegments",
        id: `s${part}`,
        attributes: { checksum, sizeInBytes: bytes.length, url },
      }
    }),
    pathname,
  )
}

const ENGAGEMENT = [
  "Date",
  "App Name",
  "App Apple Identifier",
  "Event",
  "Page Type",
  "Source Type",
  "Engagement Type",
  "Device",
  "Platform Version",
  "Territory",
  "Counts",
  "Unique Counts",
]
const DOWNLOADS = [
  "Date",
  "App Name",
  "App Apple Identifier",
  "Download Type",
  "App Version",
  "Device",
  "Platform Version",
  "Source Type",
  "Page Type",
  "Pre-Order",
  "Territory",
  "Counts",
]

export type EngagementLine = [day: string, event: string, from: string, territory: string, count: number]

/** Returns a part of a file in the console's format. */
export function analyticsPart(report: AnalyticsFile["report"], app: string, lines: readonly EngagementLine[]): string {
  const downloads = report.startsWith("App Downloads")
  const columns = downloads ? DOWNLOADS : ENGAGEMENT
  const rows = lines.map(([day, event, from, territory, count]) => {
    const cells: Record<string, string | number> = {
      Date: day,
      "App Name": "Tea Timer",
      "App Apple Identifier": app,
      [downloads ? "Download Type" : "Event"]: event,
      "Source Type": from,
      Territory: territory,
      Counts: count,
      "Unique Counts": count,
      Device: "iPhone",
    }
    return columns.map((column) => cells[column] ?? "").join("\t")
  })
  return [columns.join("\t"), ...rows].map((line) => `${line}\n`).join("")
}
