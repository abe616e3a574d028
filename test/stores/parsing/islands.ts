/** The format of a body: which parts are JSON, and which edits of its text make sense. */
export type As = "html-json" | "json" | "xml" | "text"

/** A part of a body that is JSON. */
export interface Island {
  start: number
  end: number
  value: unknown
}

/**
 * Returns the JSON parts of a body: for a page those in scripts and callbacks, else the whole body or each of its
 * lines.
 */
export function islandsOf(body: string, as: As): Island[] {
  if (as === "html-json") return [...inScripts(body), ...inCallbacks(body)]
  if (as !== "json") return []
  const whole = island(body, 0, body.length)
  return whole ? [whole] : byLine(body)
}

/** Returns the body with another value in place of the island. */
export function put(body: string, { start, end }: Island, value: unknown): string {
  const json = (JSON.stringify(value) ?? "").replaceAll("</", "<\\/")
  return body.slice(0, start) + json + body.slice(end)
}

function island(body: string, start: number, end: number): Island | undefined {
  const text = body.slice(start, end)
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return { start, end, value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function inScripts(body: string): Island[] {
  return between(body, /<script\b[^>]*\btype="application\/(?:ld\+)?json"[^>]*>/g, "</script>")
}

// AF_initDataCallback({key: 'ds:4', hash: '1', data:[…], sideChannel: {}});
function inCallbacks(body: string): Island[] {
  return between(body, /AF_initDataCallback\(\{key: '[^']*', hash: '[^']*', data:/g, ", sideChannel:")
}

function between(body: string, opening: RegExp, closing: string): Island[] {
  return [...body.matchAll(opening)].flatMap((match) => {
    const start = match.index + match[0].length
    const end = body.indexOf(closing, start)
    return (end === -1 ? undefined : island(body, start, end)) ?? []
  })
}

// Between the lines are )]}' and lengths.
function byLine(body: string): Island[] {
  const found: Island[] = []
  let start = 0
  for (const line of body.split("\n")) {
    const parsed = island(body, start, start + line.length)
    if (parsed) found.push(parsed)
    start += line.length + 1
  }
  return found
}
