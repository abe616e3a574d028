import { isConditional, missingCode, type Operation, pathNames, priceRange } from "../../core/operation.ts"
import { FAULT_CODES, FAULTS, Fault, type FaultCode, UNIVERSAL_FAULTS } from "../../lib/faults.ts"
import { codeOf, type Schema } from "../../lib/schema.ts"
import { EVERY_HEADER, headerReference } from "./headers.ts"

export function faultsOf(operation: Operation): FaultCode[] {
  const { price, method, scope, terms, hive, path, subject, effect, input, faults } = operation
  const possible = new Set<FaultCode>([...UNIVERSAL_FAULTS, ...faults])
  for (const entry of Object.values(input.entries)) possible.add(codeOf(entry as Schema))
  if (scope || terms) possible.add("scope_required")
  if (hive) possible.add("explorer_required").add("daily_hive_limit")
  if (subject) possible.add("app_not_allowed")
  if (subject) possible.add("not_found")
  if (pathNames(path).length > 0) possible.add(missingCode(operation))
  if (effect === "writes" || effect === "previews") possible.add("test_key_read_only")
  const impossible = [
    ...ELSEWHERE,
    ...(priceRange(price).atMost === 0 ? CHARGING : []),
    ...(method === "GET" ? BODY : []),
  ]
  return FAULT_CODES.filter((code) => possible.has(code) && !impossible.includes(code))
}

export function ownFaultsOf(operation: Operation): FaultCode[] {
  const universal: readonly FaultCode[] = UNIVERSAL_FAULTS
  return faultsOf(operation).filter((code) => !universal.includes(code))
}

/** Returns the error codes of the operations, of unknown paths and methods, and of a wrong token for /metrics. */
export function raisedFaults(catalog: readonly Operation[]): Set<FaultCode> {
  return new Set<FaultCode>([...catalog.flatMap(faultsOf), ...ELSEWHERE, "invalid_token"])
}

/** Codes that a call with a valid path and method never returns. The last one appears in a job's error. */
const ELSEWHERE: FaultCode[] = ["unknown_endpoint", "method_not_allowed", "changed_since_preview"]
const CHARGING: FaultCode[] = ["key_budget_reached", "credits_exhausted"]
const BODY: FaultCode[] = ["body_too_large", "unsupported_media_type"]

export function statusesOf(codes: readonly FaultCode[]): number[] {
  return [...new Set(codes.map((code) => FAULTS[code].status))].sort((a, b) => a - b)
}

/** Returns the component name of a status' errors: 404 becomes NotFound. */
export function responseName(status: number): string {
  return ERRORS[status]![0]
}

/** Returns components.responses: one per status with all its codes. x-errors lists the codes of each operation. */
export function errorResponses(catalog: readonly Operation[], publicUrl: string | null): Record<string, object> {
  const raised = new Set(catalog.flatMap(faultsOf))
  const codes = FAULT_CODES.filter((code) => raised.has(code))
  const responses = statusesOf(codes).map((status): [string, object] => {
    const ofStatus = codes.filter((code) => FAULTS[code].status === status)
    return [responseName(status), errorResponse(status, ofStatus, publicUrl)]
  })
  return Object.fromEntries(responses)
}

export const PARAMETERS = {
  IfNoneMatch: {
    name: "if-none-match",
    in: "header",
    description:
      "The `etag` of a previous answer. While the content is unchanged, the response is 304 and costs nothing.",
    schema: { type: "string", maxLength: 8_192 },
  },
}

/**
 * Returns the conditional parts of an answer that depends only on stored data: its ETag, and 304 for a caller that has
 * it.
 */
export function conditionalParts(operation: Operation): { etag?: object; parameters: object[]; responses: object } {
  if (!isConditional(operation)) return { parameters: [], responses: {} }
  return {
    etag: { ETag: headerReference("Etag") },
    parameters: [{ $ref: "#/components/parameters/IfNoneMatch" }],
    responses: { 304: { $ref: "#/components/responses/NotModified" } },
  }
}

/** The response of components.responses that is not an error. */
export const NOT_MODIFIED = {
  description: "The content is unchanged. Costs nothing.",
  headers: { ...EVERY_HEADER, ETag: headerReference("Etag") },
}

function errorResponse(status: number, codes: FaultCode[], publicUrl: string | null): object {
  const narrowed = { type: "object", properties: { error: { enum: codes } } }
  const examples = publicUrl && codes.map((code) => [code, { value: new Fault(code).body(publicUrl) }])
  return {
    description: ERRORS[status]![1],
    headers: { ...EVERY_HEADER, ...headersOf(status) },
    content: {
      "application/json": {
        schema: { allOf: [{ $ref: "#/components/schemas/Fault" }, narrowed] },
        ...(examples && { examples: Object.fromEntries(examples) }),
      },
    },
  }
}

function headersOf(status: number): object {
  if (status === 401) return { "WWW-Authenticate": headerReference("WwwAuthenticate") }
  if (status === 400 || status === 429 || status === 503) return { "Retry-After": headerReference("RetryAfter") }
  return {}
}

/** Component name and meaning of each status. */
const ERRORS: Record<number, [name: string, meaning: string]> = {
  400: ["BadRequest", "The request is invalid. `problems` lists the invalid arguments."],
  401: ["Unauthorized", "The key is missing or not valid."],
  402: ["PaymentRequired", "The credits are used up."],
  403: ["Forbidden", "The key does not permit this call."],
  404: ["NotFound", "Not found, or not measured."],
  409: ["Conflict", "The call conflicts with the current state."],
  413: ["BodyTooLarge", "The body is too large."],
  415: ["UnsupportedMediaType", "The body is not plain JSON."],
  429: ["TooManyRequests", "Too many requests, or an allowance is used up."],
  431: ["HeadersTooLarge", "The request line and headers are too large."],
  500: ["InternalError", "Internal error."],
  502: ["BadGateway", "An upstream service sent no usable response."],
  503: ["Unavailable", "Temporarily unavailable."],
  504: ["GatewayTimeout", "An upstream service did not respond in time."],
}
