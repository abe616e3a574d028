import { elementText, type Html, html } from "../ui/html.ts"

/** A call as it is typed: without a key where the sandbox answers it. */
export interface TypedCall {
  url: string
  /** Of a POST, which takes a key. */
  body?: Record<string, unknown>
}

/** The call in a shell, in JavaScript and in Python; one is open, and each runs as pasted with nothing installed. */
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
  const entries = Object.entries(value).map(([name, held]) => `${JSON.stringify(name)}: ${pythonLiteral(held)}`)
  return `{${entries.join(", ")}}`
}

/** A call with a body, for a POSIX shell that has the key in APPMETER_KEY. `body` stands in the line as it is. */
export function postLine(url: string, body: string, options = ""): string {
  return `curl ${options}${KEY_HEADER} -H 'content-type: application/json' -d ${body} ${quoted(url)}`
}

export const KEY_HEADER = `-H "authorization: Bearer $APPMETER_KEY"`

/** For a POSIX shell, in quotes only where it would read something into the text. */
export function quoted(text: string): string {
  return /^[\w:/.%@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
