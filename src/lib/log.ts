import type { LogEvent } from "./log-events.ts"

/** The fields of a log line. Only these can be logged, so that no key, token or password gets in. */
export interface LogFields {
  requestId?: string
  /** The caller's x-request-id. */
  callerRequestId?: string
  /** The trace id in the caller's traceparent header. */
  traceId?: string
  method?: string
  /** Route template or redacted path, never the query. */
  path?: string
  operation?: string
  status?: number
  code?: string
  latencyMs?: number
  cost?: number
  workspace?: number
  keyId?: number
  address?: string
  database?: string
  /** The backend that counts calls per second. */
  limits?: string
  version?: string
  url?: string
  count?: number
  bytes?: number
  signal?: string
  /** An error of this program or a library: its class, SQLSTATE or message, redacted. */
  reason?: string
  stack?: string
}

export type LogLevel = "debug" | "info" | "warn" | "error"

export type Log = (level: LogLevel, event: LogEvent, fields?: LogFields) => void

const FIELDS = new Set<string>([
  "requestId",
  "callerRequestId",
  "traceId",
  "method",
  "path",
  "operation",
  "status",
  "code",
  "latencyMs",
  "cost",
  "workspace",
  "keyId",
  "address",
  "database",
  "limits",
  "version",
  "url",
  "count",
  "bytes",
  "signal",
  "reason",
  "stack",
])

const LEVELS: LogLevel[] = ["debug", "info", "warn", "error"]

/** A log line: fields of the allow-list, strings redacted and cut at 2,000 characters. */
export type LogLine = { at: Date; level: LogLevel; event: LogEvent } & { [name: string]: unknown }

/**
 * Creates a log that writes lines of level `least` and above, as JSON by default. Lines about successful calls may be
 * buffered (`canWait`), because there may be thousands a second.
 */
export function createLog(
  write: (line: string, canWait: boolean) => void,
  least: LogLevel = "info",
  now = () => new Date(),
  form: (line: LogLine) => string = asJson,
): Log {
  return (level, event, fields = {}) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return
    const line: LogLine = { at: now(), level, event }
    for (const name in fields) {
      const value = fields[name as keyof LogFields]
      if (value === undefined || !FIELDS.has(name)) continue
      line[name] = typeof value === "number" ? value : redact(String(value)).slice(0, 2_000)
    }
    write(`${form(line)}\n`, event === "call" && level === "info")
  }
}

function asJson(line: LogLine): string {
  return JSON.stringify(line).replace(LINE_ENDS, escaped)
}

/** Discards everything, for tests and commands without a log. */
export const silentLog: Log = () => {}

// JSON does not escape these characters, but some log readers start a new line at each.
const LINE_ENDS = /[\u0085\u2028\u2029]/g
const escaped = (end: string) => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`

/** Matches the text even if parts of it are percent-encoded, once or repeatedly. */
function encodedOrNot(text: string): string {
  return [...text].map((c) => `(?:${c}|%(?:25)*${c.charCodeAt(0).toString(16)})`).join("")
}

const KEY = new RegExp(
  encodedOrNot("svc_") +
    `(?:(${encodedOrNot("live")})|(${encodedOrNot("test")})|${encodedOrNot("access")}|${encodedOrNot("refresh")})` +
    `${encodedOrNot("_")}(?:[0-9a-z]|%(?:25)*[0-9a-f]{2})+`,
  "gi",
)
// Up to the last @ of the host part, because a password may contain one.
const URL_SECRET = /((?:\/|%2f){2}[^/:@\s]*?(?::|%3a))[^\s/]*(@|%40)/gi
const CREDENTIAL = /\b(bearer|basic)(\s+|%20|\+)[^\s"',;]+/gi
const NAMED = /(password|passwd|secret|token|api[-_]?key)(["']?(?:\s*[=:]\s*|%3d)["']?)[^\s"'&,;]+/gi

// Fast check: text without these words, and without a percent sign that may hide one, needs no redaction.
const SUSPICIOUS = /%|\/\/|svc|bearer|basic|passw|secret|token|api/i

/** Redacts API keys, passwords in URLs and values labelled as credentials, also when they are encoded. */
export function redact(text: string): string {
  if (!SUSPICIOUS.test(text)) return text
  return text
    .replace(KEY, (_, live?: string, test?: string) => `svc_${live ? "live" : test ? "test" : "token"}_[redacted]`)
    .replace(URL_SECRET, "$1[redacted]$2")
    .replace(CREDENTIAL, "$1$2[redacted]")
    .replace(NAMED, "$1$2[redacted]")
}
