import { createPublicKey, generateKeyPairSync, randomUUID, verify } from "node:crypto"
import { gzipSync } from "node:zlib"
import { answerShelf, type ConsoleShelf, emptyShelf } from "./console-shelf.ts"
import { type Analytics, analyticsAnswer, fileHost } from "./stand-in-analytics.ts"
import { priceAnswer, type StandInProduct } from "./stand-in-prices.ts"

/** The role of a key of the test server. */
export type Role = "ADMIN" | "FINANCE" | "SALES" | "APP_MANAGER" | "CUSTOMER_SUPPORT" | "MARKETING"

export interface MadeKey {
  keyId: string
  /** The private key in PEM format, which the console lets people download once. */
  pem: string
  role: Role
}

export interface StandInApp {
  id: string
  name: string
  bundleId: string
  sku: string
}

/** The response for a day's report: its text, nothing sold, not published yet, or any other response. */
export type ReportAnswer = { tsv: string } | "no sales" | "late" | Response

type ReportOf = (type: string, day: string, before: number) => ReportAnswer

export interface StandIn {
  url: string
  issuer: string
  vendor: string
  /** Creates a team key. */
  key(role?: Role): MadeKey
  revoke(keyId: string): void
  /** Changes the role of a key. */
  demote(keyId: string, role: Role): void
  apps: StandInApp[]
  products: StandInProduct[]
  analytics: Analytics
  /** Returns the report of a day. By default every day is "late". */
  report: ReportOf
  /** True if an agreement is waiting for the account holder. */
  agreement: boolean
  /** Overrides the console's response. Null keeps the console's own response. */
  before: (path: string) => Response | null | Promise<Response | null>
  hourLeft: number
  /** Reviews and listings, which can be changed. */
  shelf: ConsoleShelf
  /** Paths and queries of the requests to which the console responded. */
  requests: string[]
  /** How many seconds the console's clock is ahead of ours. */
  aheadS: number
  stop(): Promise<void>
}

/**
 * A stand-in on localhost for App Store Connect, with the same formats, texts, limits and refusals. It checks every
 * request against the published API.
 */
export function startStandIn(): StandIn {
  const keys = new Map<string, { role: Role; publicKey: string; revoked: boolean }>()
  const counted = new Map<string, number>()
  const state: StandIn = {
    url: "",
    issuer: "69a6de70-1234-47e3-e053-5b8c7c11a4d1",
    vendor: "85012345",
    key(role = "SALES") {
      const pair = generateKeyPairSync("ec", {
        namedCurve: "P-256",
        publicKeyEncoding: { type: "spki", format: "pem" },
        privateKeyEncoding: { type: "pkcs8", format: "pem" },
      })
      const keyId = `KEY${String(keys.size).padStart(7, "0")}`
      keys.set(keyId, { role, publicKey: pair.publicKey, revoked: false })
      return { keyId, pem: pair.privateKey, role }
    },
    revoke(keyId) {
      keys.get(keyId)!.revoked = true
    },
    demote(keyId, role) {
      keys.get(keyId)!.role = role
    },
    apps: [],
    products: [],
    analytics: { requests: [], files: [], expired: 0, wrongChecksum: false, removedDates: [], fetched: [], posted: [] },
    report: () => "late",
    agreement: false,
    before: () => null,
    hourLeft: 3_500,
    shelf: emptyShelf(),
    requests: [],
    aheadS: 0,
    async stop() {
      await Promise.all([server.stop(true), files.stop()])
    },
  }
  const files = fileHost(state.analytics)
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => answerRequest(request) })
  state.url = `http://127.0.0.1:${server.port}`
  const answerRequest = async (request: Request): Promise<Response> => {
    const text = await request.text()
    const url = new URL(request.url)
    const path = decodeURIComponent(`${url.pathname}${url.search}`)
    const override = await state.before(path)
    if (override) return override
    const role = roleOf(request.headers.get("authorization") ?? "")
    if (role === null) return refusal(401, "NOT_AUTHORIZED", "Authentication credentials are missing or invalid.")
    state.requests.push(path)
    state.hourLeft--
    if (state.hourLeft < 0) return refusal(429, "RATE_LIMIT_EXCEEDED", "The request rate limit has been reached.")
    if (state.agreement)
      return refusal(
        403,
        "FORBIDDEN.REQUIRED_AGREEMENTS_MISSING_OR_EXPIRED",
        "A required agreement is missing or has expired.",
      )
    const { method } = request
    const { pathname } = url
    const shelved = answerShelf(state.shelf, { method, url, body: text === "" ? undefined : JSON.parse(text), role })
    const matched =
      shelved ??
      analyticsAnswer(state, files.url, { method, pathname, body: text }, role, refusal) ??
      (method === "GET" ? priceAnswer(state, url, role, refusal) : null)
    const answer = matched ?? (method === "GET" ? route(url, role) : refusal(405, "METHOD_NOT_ALLOWED", "No."))
    answer.headers.set("X-Rate-Limit", `user-hour-lim:3500;user-hour-rem:${state.hourLeft};`)
    return answer
  }
  const roleOf = (header: string): Role | null => {
    const [, head = "", claims = "", signature = ""] = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(header) ?? []
    const { alg, kid, typ } = partOf(head)
    const { iss, iat, exp, aud } = partOf(claims) as Record<string, number & string>
    const key = keys.get(String(kid))
    if (!key || key.revoked || alg !== "ES256" || typ !== "JWT") return null
    const now = Date.now() / 1_000 + state.aheadS
    const fits =
      iss === state.issuer && aud === "appstoreconnect-v1" && exp! - iat! <= 1_200 && iat! <= now && exp! > now
    const publicKey = createPublicKey(key.publicKey)
    const signed = Buffer.from(`${head}.${claims}`)
    const sealed = { key: publicKey, dsaEncoding: "ieee-p1363" as const }
    return fits && verify("sha256", signed, sealed, Buffer.from(signature, "base64url")) ? key.role : null
  }
  const route = ({ pathname, searchParams }: URL, role: Role): Response => {
    if (pathname === "/v1/apps") return page(state, searchParams)
    if (pathname === "/v1/salesReports") return answerReport(searchParams, role)
    const [, id, thing] = /^\/v1\/apps\/(\d+)\/(\w+)$/.exec(pathname) ?? []
    if (!state.apps.some((app) => app.id === id)) return refusal(404, "NOT_FOUND", "There is no resource of that id.")
    if (!MAY[thing ?? ""]?.includes(role))
      return refusal(403, "FORBIDDEN_ERROR", "This request is forbidden for security reasons.")
    return Response.json({ data: [], links: { self: `${state.url}${pathname}` } })
  }
  const answerReport = (query: URLSearchParams, role: Role): Response => {
    if (!MAY.salesReports!.includes(role))
      return refusal(403, "FORBIDDEN_ERROR", "The API key in use does not allow this request.")
    const [vendor, type, day] = ["vendorNumber", "reportType", "reportDate"].map((name) => query.get(`filter[${name}]`))
    if (vendor !== state.vendor) return refusal(400, "PARAMETER_ERROR.INVALID", "Invalid vendor number specified.")
    if (query.get("filter[frequency]") !== "DAILY" || query.get("filter[reportSubType]") !== "SUMMARY")
      return refusal(400, "PARAMETER_ERROR.REQUIRED", "A required filter is missing.")
    if (!/^\d{4}-\d\d-\d\d$/.test(day ?? "")) return refusal(400, "PARAMETER_ERROR.INVALID", "Bad date.")
    const name = `${type} ${day}`
    const before = counted.get(name) ?? 0
    counted.set(name, before + 1)
    return bodyOf(state.report(type!, day!, before))
  }
  return state
}

/** The roles that may read each resource. All roles may list the apps. */
const MAY: Record<string, Role[]> = {
  salesReports: ["ADMIN", "FINANCE", "SALES"],
  analyticsReportRequests: ["ADMIN", "FINANCE", "SALES"],
  customerReviews: ["ADMIN", "APP_MANAGER", "CUSTOMER_SUPPORT"],
  appPriceSchedule: ["ADMIN", "APP_MANAGER"],
}

function partOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString())
  } catch {
    return {}
  }
}

function refusal(status: number, code: string, detail: string): Response {
  const error = { id: randomUUID(), status: String(status), code, title: code, detail }
  return Response.json({ errors: [error] }, { status })
}

function bodyOf(answer: ReportAnswer): Response {
  if (answer instanceof Response) return answer
  if (answer === "no sales") return refusal(404, "NOT_FOUND", "There were no sales for the date specified.")
  if (answer === "late")
    return refusal(
      404,
      "NOT_FOUND",
      "The request expected results but none were found - Report is not available yet. " +
        "Daily reports for the Americas are available by 5 am Pacific Time; Japan, Australia, " +
        "and New Zealand by 5 am Japan Standard Time; and 5 am Central European Time for all other territories.",
    )
  return new Response(gzipSync(answer.tsv), { headers: { "content-type": "application/a-gzip" } })
}

function page({ apps, url }: StandIn, query: URLSearchParams): Response {
  const limit = Number(query.get("limit") ?? 50)
  const from = Number(query.get("cursor") ?? 0)
  const data = apps.slice(from, from + limit).map(({ id, ...attributes }) => ({ type: "apps", id, attributes }))
  const next = from + limit < apps.length ? `${url}/v1/apps?limit=${limit}&cursor=${from + limit}` : undefined
  return Response.json({
    data,
    links: { self: `${url}/v1/apps`, ...(next && { next }) },
    meta: { paging: { total: apps.length, limit } },
  })
}

const SALES_COLUMNS = [
  "Provider",
  "Provider Country",
  "SKU",
  "Developer",
  "Title",
  "Version",
  "Product Type Identifier",
  "Units",
  "Developer Proceeds",
  "Begin Date",
  "End Date",
  "Customer Currency",
  "Country Code",
  "Currency of Proceeds",
  "Apple Identifier",
  "Customer Price",
  "Promo Code",
  "Parent Identifier",
  "Subscription",
  "Period",
  "Category",
  "CMB",
  "Device",
  "Supported Platforms",
  "Proceeds Reason",
  "Preserved Pricing",
  "Client",
  "Order Type",
] as const

export type SalesRow = Partial<Record<(typeof SALES_COLUMNS)[number], string>>

/** Returns a daily sales report in the console's format. */
export function salesReport(day: string, rows: readonly SalesRow[]): string {
  const [year, month, date] = day.split("-")
  const dated = `${month}/${date}/${year}`
  const fixed: SalesRow = { Provider: "APPLE", "Provider Country": "US", "Begin Date": dated, "End Date": dated }
  return table(
    SALES_COLUMNS,
    rows.map((row) => ({ ...fixed, ...row })),
  )
}

/** Returns a tab-separated table with a header. Missing fields are one space in some columns and empty in others. */
export function table(columns: readonly string[], rows: readonly Record<string, string | undefined>[]): string {
  const blank = (column: string) => (["Promo Code", "Subscription", "Period"].includes(column) ? " " : "")
  const lines = rows.map((row) => columns.map((column) => row[column] ?? blank(column)).join("\t"))
  return [columns.join("\t"), ...lines].map((line) => `${line}\n`).join("")
}
