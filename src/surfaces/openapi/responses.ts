import { FAULT_CODES, FAULTS, Fault, type FaultCode, UNIVERSAL_FAULTS } from "../../faults.ts"
import { type Operation, pathNames, priceRange } from "../../operation.ts"
import { codeOf, type Schema } from "../../vocabulary/schema.ts"

/** Every code a call of this operation can be answered with, in the table's order. */
export function faultsOf(operation: Operation): FaultCode[] {
  const { price, method, scope, terms, hive, path, subject, effect, input, faults, missing = "not_found" } = operation
  const possible = new Set<FaultCode>([...UNIVERSAL_FAULTS, ...faults])
  for (const entry of Object.values(input.entries)) possible.add(codeOf(entry as Schema))
  if (scope || terms) possible.add("scope_required")
  if (hive) possible.add("explorer_required").add("daily_hive_limit")
  if (subject) possible.add("app_not_allowed")
  if (subject) possible.add("not_found")
  if (pathNames(path).length > 0) possible.add(missing)
  if (effect === "writes" || effect === "previews") possible.add("test_key_read_only")
  const impossible = [...(priceRange(price).atMost === 0 ? CHARGING : []), ...(method === "GET" ? BODY : [])]
  return FAULT_CODES.filter((code) => possible.has(code) && !impossible.includes(code))
}

/** Every code that this version can answer with: those of its operations, and what /metrics says to a wrong token. */
export function raisedFaults(catalog: readonly Operation[]): Set<FaultCode> {
  return new Set<FaultCode>([...catalog.flatMap(faultsOf), "invalid_token"])
}

const CHARGING: FaultCode[] = ["key_budget_reached", "credits_exhausted"]
const BODY: FaultCode[] = ["body_too_large", "unsupported_media_type"]

export function statusesOf(codes: readonly FaultCode[]): number[] {
  return [...new Set(codes.map((code) => FAULTS[code].status))].sort((a, b) => a - b)
}

/** The component for those of the codes that have this status; equal codes have one name: 404 → NotFound, NotFoundNotMeasured. */
export function responseName(status: number, codes: readonly FaultCode[]): string {
  const universal: readonly FaultCode[] = UNIVERSAL_FAULTS
  const own = codes.filter((code) => FAULTS[code].status === status && !universal.includes(code))
  return [STATUS_NAMES[status], ...own.map((code) => capitalised(code))].join("")
}

/** components.responses: what the errors of all these operations look like. */
export function errorResponses(catalog: readonly Operation[], publicUrl: string): Record<string, object> {
  const responses: Record<string, object> = {}
  for (const codes of catalog.map(faultsOf))
    for (const status of statusesOf(codes)) {
      const ofStatus = codes.filter((code) => FAULTS[code].status === status)
      responses[responseName(status, codes)] ??= errorResponse(status, ofStatus, publicUrl)
    }
  return Object.fromEntries(Object.entries(responses).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const header = (description: string, schema: object) => ({ description, schema })
const amount = { type: "integer", minimum: 0 }

/** components.headers */
export const HEADERS = {
  CreditsUsed: header("Credits used this month.", amount),
  CreditsLimit: header("Credits of this month, packs included.", amount),
  CreditsRemaining: header("Credits left.", amount),
  CreditsReset: header("When the next month starts.", { type: "string", format: "date-time" }),
  RequestId: header("Names this call in the log.", { type: "string", format: "uuid" }),
  RetryAfter: header("Seconds to wait; on every 429 and on unavailable.", { type: "integer", minimum: 1 }),
  Allow: header("The methods that are answered.", { type: "string" }),
  WwwAuthenticate: header("How to sign in.", { type: "string" }),
}

const reference = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` })

/** On every response. */
export const CREDIT_HEADERS = {
  "x-credits-used": reference("CreditsUsed"),
  "x-credits-limit": reference("CreditsLimit"),
  "x-credits-remaining": reference("CreditsRemaining"),
  "x-credits-reset": reference("CreditsReset"),
  "x-request-id": reference("RequestId"),
}

function errorResponse(status: number, codes: FaultCode[], publicUrl: string): object {
  const narrowed = { type: "object", properties: { error: { enum: codes } } }
  const examples = codes.map((code) => [code, { value: new Fault(code).body(publicUrl) }])
  return {
    description: codes.map((code) => `\`${code}\`: ${FAULTS[code].message}`).join("\n\n"),
    headers: { ...CREDIT_HEADERS, ...headersOf(status) },
    content: {
      "application/json": {
        schema: { allOf: [{ $ref: "#/components/schemas/Fault" }, narrowed] },
        examples: Object.fromEntries(examples),
      },
    },
  }
}

function headersOf(status: number): object {
  if (status === 401) return { "www-authenticate": reference("WwwAuthenticate") }
  if (status === 405) return { allow: reference("Allow") }
  if (status === 429 || status === 503) return { "retry-after": reference("RetryAfter") }
  return {}
}

const STATUS_NAMES: Record<number, string> = {
  400: "BadRequest",
  401: "Unauthorized",
  402: "PaymentRequired",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  413: "BodyTooLarge",
  415: "UnsupportedMediaType",
  429: "TooManyRequests",
  431: "HeadersTooLarge",
  500: "InternalError",
  502: "BadGateway",
  503: "Unavailable",
  504: "GatewayTimeout",
}

function capitalised(code: string): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
