import { createLog, type Log, type LogLine } from "../../lib/log.ts"
import type { Invocation } from "../cli/command.ts"

/** Creates the log of a running process: JSON in a pipe, readable lines on a terminal, or as set in LOG_FORMAT. */
export function processLog({ terminal, settings: { logLevel, logFormat } }: Invocation): Log {
  const isReadable = logFormat === "lines" || (logFormat === "auto" && terminal.isWatched())
  const write = buffered(terminal.err)
  if (!isReadable) return createLog(write, logLevel)
  return createLog(write, logLevel, undefined, (line) => asLine(line, terminal.isWatched()))
}

/**
 * Collects lines that can wait and writes them once per turn of the event loop. Other lines are written immediately,
 * because the process may be about to end.
 */
function buffered(write: (text: string) => void): (line: string, canWait: boolean) => void {
  let pending = ""
  const flush = () => {
    if (pending !== "") write(pending)
    pending = ""
  }
  return (line, canWait) => {
    if (pending === "" && canWait) setImmediate(flush)
    pending += line
    if (!canWait) flush()
  }
}

const TONES = { debug: 90, info: 0, warn: 33, error: 31 }

/**
 * Formats a call as "09:28:40 GET /v1/apps 200 24 ms 1 credit" and other events as name and fields. The time is local.
 * A failed call also shows its request id.
 */
function asLine({ at, level, event, ...fields }: LogLine, inColour: boolean): string {
  const time = at.toTimeString().slice(0, 8)
  const text = event === "call" ? callText(fields) : [event.replaceAll("_", " "), ...pairs(fields)].join("  ")
  const plain = `${time} ${level === "info" ? "" : `${level}: `}${text}`.replaceAll(CONTROLS, "�")
  return inColour && level !== "info" ? `\u001b[${TONES[level]}m${plain}\u001b[39m` : plain
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

// a caller's text could redraw the terminal
const CONTROLS = /\p{C}/gu
