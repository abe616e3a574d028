import type { Operation } from "../core/operation.ts"
import { FAULTS, type FaultCode, UNIVERSAL_FAULTS } from "../lib/faults.ts"
import { type Html, html } from "../ui/html.ts"
import { layout, pagePolicy } from "../ui/layout.ts"
import { actionsPart, type DocumentedAction } from "./actions.ts"
import { callLines } from "./call-lines.ts"
import { type Chapter, contents } from "./contents.ts"
import { codeLinks } from "./fault-link.ts"
import { operationPart } from "./operation-part.ts"
import { REFERENCE_SCRIPT } from "./reference-script.ts"
import { shownPath } from "./terms.ts"
import { toolsPart } from "./tools.ts"
import { askingPart, type SampleCall } from "./try-it.ts"

interface ReferenceParts {
  publicUrl: string
  /** One sample per operation. */
  samples: ReadonlyMap<string, SampleCall>
  /** The writes of POST /actions. */
  actions: readonly DocumentedAction[]
  /** Returns every error code that a call of an operation can return. */
  faultsOf: (operation: Operation) => readonly FaultCode[]
}

/** Allows only the page's own script and style, and calls to its own origin. */
export const REFERENCE_POLICY = pagePolicy({ script: REFERENCE_SCRIPT, calls: true })

/** Returns /docs: every operation, every write and the tool endpoint. */
export function referencePage(catalog: readonly Operation[], parts: ReferenceParts): string {
  const { publicUrl, actions } = parts
  const groups = [...new Set(catalog.map(({ group }) => group))].map((title) => ({
    title,
    id: title.toLowerCase().replaceAll(" ", "-"),
    operations: catalog.filter(({ group }) => group === title),
  }))
  const chapters: Chapter[] = [
    { id: "start", title: "Getting started", entries: [] },
    { id: "any-call", title: "Any call", entries: [] },
    ...groups.map(({ id, title, operations }) => ({ id, title, entries: operations.map(entryOf) })),
    { id: "actions", title: "Actions", entries: actions.map(({ name }) => ({ id: name, text: name })) },
    { id: "tools", title: "Tools", entries: [] },
  ]
  return layout(
    "API reference",
    "Every operation of the API: parameters, price, rights and outcomes, with a sample, and a form to try it.",
    html`${introduction(publicUrl)}
${groups.map(
  ({ id, title, operations }) => html`<div data-group><h2 id="${id}">${title}</h2>
${operations.map((operation) => partOf(operation, parts))}</div>
`,
)}<div data-group>${actionsPart(actions, publicUrl)}</div>
<div data-group>${toolsPart(catalog, publicUrl)}</div>`,
    { aside: contents(chapters), script: REFERENCE_SCRIPT },
  )
}

function entryOf({ id, method, path }: Operation) {
  return { id, text: `${method} ${shownPath(path)}` }
}

function partOf(operation: Operation, { samples, faultsOf, publicUrl }: ReferenceParts): Html {
  return operationPart(operation, {
    sample: samples.get(operation.id) as SampleCall,
    faults: faultsOf(operation),
    publicUrl,
  })
}

function introduction(publicUrl: string): Html {
  return html`<p>Where your apps stand in the stores, over HTTP: every figure with the time it was measured and its source,
and null, never zero, where nobody measured. Below stand all calls, <a href="#actions">the writes</a> and
<a href="#tools">the tools</a> for AI assistants.</p>
<div data-group><h2 id="start">Getting started</h2>
<ol>
<li>Look around without a key: every read below <code>${publicUrl}/v1/sandbox</code> answers with fixed sample data,
whatever valid parameters are sent. The lines and forms on this page do so; the samples leave out what is marked with “…”.</li>
<li>Take a key: the first start of the server printed one, and <code>appmeter key create</code> makes more. Paths are relative
to <code>${publicUrl}/v1</code>; send the key as <code>Authorization: Bearer &lt;key&gt;</code> or
<code>x-api-key: &lt;key&gt;</code>, never in an address.</li>
<li>Write in two calls: the first shows what would change, the second confirms it (<a href="#actions">actions</a>).</li>
</ol>
${callLines("start", { url: `${publicUrl}/v1/sandbox/apps` })}
<p>The workspace that the first start makes may call everything; limits for others are yours to set. On a plan below Pro and
without a credit pack, a live key opens the tools and not REST.</p>
<p>Besides this page: every field of every answer in <a href="/v1/openapi.json">openapi.json</a> or
<a href="/v1/openapi.yaml">.yaml</a>,
<a href="/docs/errors">all error codes</a>, <a href="/llms.txt">llms.txt</a>, a short guide for assistants, and
<a href="/docs/operate">the manual</a> for who runs this instance.</p>
${askingPart()}</div>
<div data-group><h2 id="any-call">Any call</h2>
<p>Every response says in <code>x-credits-used</code>, <code>x-credits-limit</code>, <code>x-credits-remaining</code> and
<code>x-credits-reset</code> where the month's credits stand, in <code>ratelimit</code> what is left of the key's calls this
second, and in <code>x-request-id</code> how the log names the call: your own id, where you sent one in that header. The
<code>traceparent</code> of a W3C trace comes back too.
A <code>GET</code> that rests on stored data has an <code>etag</code>, which names what it says: sent back as
<code>if-none-match</code> it is answered 304 while nothing has changed, and that costs nothing. What waits for a measurement
has none.</p>
<p><a href="/docs/operate/changes">What may change</a> says what you may rely on, and how a change is announced.</p>
<p>An answer that can be large takes <code>fields</code>: the rows of its list, or else the answer itself, then have those
alone, at the same price. A history is also read by days, by keywords and page by page; the pages of one walk keep its
window, and keywords that come meanwhile stand at the end.</p>
<p>Where rows are offered, as CSV or JSON Lines, each has what the answer says once beside its own columns. An unknown figure is
an empty cell and never 0; where a list is empty one row says so, with the cells of the list empty. Texts that a spreadsheet would
take for a formula begin with an apostrophe in CSV.</p>
<p>Besides its own codes each operation can be refused with one of these, as far as they apply to it:</p>
<ul>
${universalByStatus()}</ul></div>`
}

function universalByStatus(): Html[] {
  const statuses = [...new Set(UNIVERSAL_FAULTS.map((code) => FAULTS[code].status))].sort((a, b) => a - b)
  return statuses.map((status) => {
    const codes = UNIVERSAL_FAULTS.filter((code) => FAULTS[code].status === status)
    return html`<li>${status} ${codeLinks(codes)}</li>\n`
  })
}
