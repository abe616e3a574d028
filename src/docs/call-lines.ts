import { elementText, type Html, html } from "../ui/html.ts"

/** A call as the reader types it. It contains no key if the sandbox answers it. */
export interface TypedCall {
  url: string
  /** The body of a POST. A POST needs a key. */
  body?: Record<string, unknown>
}

/**
 * Shows the call in a shell, in JavaScript and in Python, and opens one of the three. Each works as pasted, with
 * nothing to install.
 */
export function callLines(id: string, call: TypedCall): Html {
  const forms = [
    ["curl", curlLine(call)],
    ["JavaScript", javascriptLines(call)],
    ["Python", pythonLines(call)],
  ] as const
  return html`<div class="lines">${forms.map(
    ([language, text], i) => html`<details name="${id}-lines"${i === 0 && html` open=""`}><summary>${language}</summary>
<div class="code"><pre>${elementText(text)}</pre></div></details>`,
  )}</div>
`
}

function curlLine({ url, body }: TypedCall): string {
  return body === undefined ? `curl ${quoted(url)}` : postLine(url, quoted(JSON.stringify(body)))
}

function javascriptLines({ url, body }: TypedCall): string {
  const options = `, {
  method: "POST",
  headers: { authorization: "Bearer " + process.env.APPMETER_KEY, "content-type": "application/json" },
  body: JSON.stringify(${JSON.stringify(body)}),
}`
  return `const response = await fetch(${JSON.stringify(url)}${body === undefined ? "" : options})
console.log(response.status, await response.json())`
}

function pythonLines({ url, body }: TypedCall): string {
  if (body === undefined)
    return `import json, urllib.request\n\nprint(json.load(urllib.request.urlopen(${JSON.stringify(url)})))`
  return `import json, os, urllib.request

call = urllib.request.Request(${JSON.stringify(url)}, json.dumps(${pythonLiteral(body)}).encode(), {
    "authorization": "Bearer " + os.environ["APPMETER_KEY"], "content-type": "application/json"})
print(json.load(urllib.request.urlopen(call)))`
}

function pythonLiteral(value: unknown): string {
  if (value === null) return "None"
  if (typeof value === "boolean") return value ? "True" : "False"
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`
  if (typeof value !== "object") return JSON.stringify(value)
  const entries = Object.entries(value).map(([name, entry]) => `${JSON.stringify(name)}: ${pythonLiteral(entry)}`)
  return `{${entries.join(", ")}}`
}

/**
 * Returns a call with a body for a POSIX shell in which APPMETER_KEY contains the key. `body` is inserted without
 * quoting.
 */
export function postLine(url: string, body: string, options = ""): string {
  return `curl ${options}${KEY_HEADER} -H 'content-type: application/json' -d ${body} ${quoted(url)}`
}

export const KEY_HEADER = `-H "authorization: Bearer $APPMETER_KEY"`

/** Quotes text for a POSIX shell if the shell would interpret it. */
export function quoted(text: string): string {
  return /^[\w:/.%@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
