import { type Operation, priceRange } from "../operation.ts"
import { actionsPart, type DocumentedAction } from "./actions.ts"
import { postLine, quoted } from "./curl.ts"
import { type Html, html } from "./html.ts"
import { layout } from "./layout.ts"
import { toolsPart } from "./tools.ts"

/** A call that the sandbox answers: `path` below /v1 with its parameters filled in, and what it needs besides. */
export interface SampleCall {
  path: string
  rest: Record<string, unknown>
}

export interface ReferenceParts {
  publicUrl: string
  /** One of each operation. */
  samples: ReadonlyMap<string, SampleCall>
  /** What POST /actions can do. */
  actions: readonly DocumentedAction[]
}

/** /docs: every operation with its price and rights and a line to paste, every write, and the tool endpoint. */
export function referencePage(catalog: readonly Operation[], { publicUrl, samples, actions }: ReferenceParts): string {
  const groups = [...new Set(catalog.map(({ group }) => group))]
  const row = (operation: Operation) => operationPart(operation, samples.get(operation.id) as SampleCall, publicUrl)
  return layout(
    "API reference",
    "Every operation of the API with its path, price and scope, and a line to try it.",
    html`<p>Paths are relative to <code>${publicUrl}/v1</code>. Send a key as <code>Authorization: Bearer &lt;key&gt;</code>
or <code>x-api-key: &lt;key&gt;</code>. With a live key, REST needs the Pro plan or above,
or a credit pack. The lines of reads need no key: the sandbox answers them with fixed sample data. Those of POST calls show the shape
alone; pairs that work stand under <a href="#actions">the actions</a>.
Every response says in <code>x-credits-used</code>, <code>x-credits-limit</code>, <code>x-credits-remaining</code> and
<code>x-credits-reset</code> where the month's credits stand.</p>
<p>Each field is described in <a href="/v1/openapi.json">openapi.json</a>, each error in
<a href="/docs/errors">the list of error codes</a>. After the operations stand <a href="#actions">the writes</a> and
<a href="#tools">the tools</a> for AI assistants.</p>
${groups.map(
  (group) => html`<h2>${group}</h2>
${catalog.filter((operation) => operation.group === group).map(row)}`,
)}${actionsPart(actions, publicUrl)}
${toolsPart(catalog, publicUrl)}`,
  )
}

function operationPart(operation: Operation, sample: SampleCall, publicUrl: string): Html {
  const { id, method, path, summary, description } = operation
  return html`<section id="${id}">
<h3><a href="#${id}"><code>${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}</code></a></h3>
<p>${summary}${description && html` ${description}`}</p>
<p class="quiet"><code>${id}</code> · ${priceText(operation)} · ${rightsText(operation)}</p>
<pre>${curlLine(operation, sample, publicUrl)}</pre>
</section>
`
}

function priceText({ price }: Operation): string {
  const { min, atMost } = priceRange(price)
  if (atMost === 0) return "free of charge"
  const note = typeof price === "number" ? "" : ` (${price.note})`
  if (min !== atMost) return `${min} to ${atMost} credits${note}`
  return `${min} ${min === 1 ? "credit" : "credits"}${note}`
}

function rightsText({ scope, terms, plan, hive }: Operation): string {
  const scopeText = terms ? "scope of the action" : scope ? `scope ${scope}` : "no scope needed"
  const rights = [scopeText, plan === undefined || plan === "free" ? "every plan" : `${plan} plan or above`]
  if (hive) rights.push(hive === "explorer" ? "Explorer" : "a credit pack or Explorer")
  return rights.join(" · ")
}

/** GETs work as pasted, in the sandbox; it answers no POST, so those need a key. */
function curlLine({ method }: Operation, { path, rest }: SampleCall, publicUrl: string): string {
  if (method === "GET") {
    const query = new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, String(value)])).toString()
    return `curl ${quoted(`${publicUrl}/v1/sandbox${path}${query && `?${query}`}`)}`
  }
  return postLine(`${publicUrl}/v1${path}`, quoted(JSON.stringify(rest)))
}
