import { FAULTS, type FaultCode, UNIVERSAL_FAULTS } from "../faults.ts"
import type { Operation } from "../operation.ts"
import { type Html, html } from "../pages/html.ts"
import { layout, pagePolicy } from "../pages/layout.ts"
import { actionsPart, type DocumentedAction } from "./actions.ts"
import { type Chapter, contents } from "./contents.ts"
import { codeLinks } from "./fault-link.ts"
import { operationPart } from "./operation-part.ts"
import { REFERENCE_SCRIPT } from "./reference-script.ts"
import { shownPath } from "./terms.ts"
import { toolsPart } from "./tools.ts"
import type { SampleCall } from "./try-it.ts"

export interface ReferenceParts {
  publicUrl: string
  /** One of each operation. */
  samples: ReadonlyMap<string, SampleCall>
  /** What POST /actions can do. */
  actions: readonly DocumentedAction[]
  /** Every code that a call of an operation can be answered with. */
  faultsOf: (operation: Operation) => readonly FaultCode[]
}

/** The page's own script, style and sandbox, and nothing else. */
export const REFERENCE_POLICY = pagePolicy({ script: REFERENCE_SCRIPT, calls: true })

/** /docs: every operation with all that a caller must know of it, every write, and the tool endpoint. */
export function referencePage(catalog: readonly Operation[], parts: ReferenceParts): string {
  const { publicUrl, actions } = parts
  const groups = [...new Set(catalog.map(({ group }) => group))].map((title) => ({
    title,
    id: title.toLowerCase().replaceAll(" ", "-"),
    operations: catalog.filter(({ group }) => group === title),
  }))
  const chapters: Chapter[] = [
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
  return html`<p>Paths are relative to <code>${publicUrl}/v1</code>. Send a key as <code>Authorization: Bearer &lt;key&gt;</code>
or <code>x-api-key: &lt;key&gt;</code>. With a live key, REST needs the Pro plan or above,
or a credit pack.</p>
<p>Reads can be tried without a key: the sandbox below <code>${publicUrl}/v1/sandbox</code> answers them with fixed sample
data, whatever valid parameters are sent. Lines and forms of reads go there; the samples on this page leave out what is
marked with “…”. The lines of POST calls show the shape
alone; pairs that work stand under <a href="#actions">the actions</a>.</p>
<p>After the operations stand <a href="#actions">the writes</a> and <a href="#tools">the tools</a> for AI assistants.
Besides this page: every field of every answer in <a href="/v1/openapi.json">openapi.json</a>,
<a href="/docs/errors">all error codes</a>, <a href="/llms.txt">llms.txt</a>, a short guide for assistants, and
<a href="/docs/operate">the manual</a> for who runs this instance.</p>
<div data-group><h2 id="any-call">Any call</h2>
<p>Every response says in <code>x-credits-used</code>, <code>x-credits-limit</code>, <code>x-credits-remaining</code> and
<code>x-credits-reset</code> where the month's credits stand, and in <code>x-request-id</code> how the log names the call.
Besides its own codes each operation can be refused with one of these, as far as they apply to it:</p>
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
