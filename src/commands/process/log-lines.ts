import { createLog, type Log, type LogLine } from "../../lib/log.ts"
import type { Invocation } from "../cli/command.ts"

/** The log of a running process: JSON in a pipe, lines for people on a terminal, or as LOG_FORMAT says. */
export function processLog({ terminal, settings: { logLevel, logFormat } }: Invocation): Log {
  const forPeople = logFormat === "lines" || (logFormat === "auto" && terminal.isWatched())
  const write = gathering(terminal.err)
  if (!forPeople) return createLog(write, logLevel)
  return createLog(write, logLevel, undefined, (line) => asLine(line, terminal.isWatched()))
}

/** Lines of one turn of the event loop that can wait are written at once; no other does: the process may be about to end. */
function gathering(write: (text: string) => void): (line: string, canWait: boolean) => void {
  let gathered = ""
  const pass = () => {
    if (gathered !== "") write(gathered)
    gathered = ""
  }
  return (line, canWait) => {
    if (gathered === "" && canWait) setImmediate(pass)
    gathered += line
    if (!canWait) pass()
  }
}

const TONES = { debug: 90, info: 0, warn: 33, error: 31 }

/**
 * "09:28:40 GET /v1/apps 200 24 ms 1 credit", and other events by their name and fields. The time is the machine's own. What
 * is said of a call is its request's id only where it failed.
 */
function asLine({ at, level, event, ...fields }: LogLine, inColour: boolean): string {
  const time = at.toTimeString().slice(0, 8)
  const said = event === "call" ? callText(fields) : [event.replaceAll("_", " "), ...pairs(fields)].join("  ")
  const text = `${time} ${level === "info" ? "" : `${level}: `}${said}`.replaceAll(CONTROLS, "�")
  return inColour && level !== "info" ? `\u001b[${TONES[level]}m${text}\u001b[39m` : text
}

function callText({
  method,
  path,
  operation,
  status,
  latencyMs,
  cost,
  code,
  requestId,
}: Record<string, unknown>): string {
  const took =
    typeof latencyMs === "number" ? `${latencyMs < 10 ? latencyMs.toFixed(1) : Math.round(latencyMs)} ms` : ""
  const price = cost ? `${cost} ${cost === 1 ? "credit" : "credits"}` : ""
  const failed = Number(status) >= 400
  const parts = [method, path, path === "/mcp" && operation, status, failed && code, took, price, failed && requestId]
  return parts.filter((part) => part !== undefined && part !== false && part !== "").join(" ")
}

function pairs(fields: Record<string, unknown>): string[] {
  return Object.entries(fields)
    .filter(([name]) => name !== "stack")
    .map(([name, value]) => `${name}=${typeof value === "string" && /\s/.test(value) ? JSON.stringify(value) : value}`)
}

// what a caller wrote could redraw the terminal
const CONTROLS = /\p{C}/gu
