import type { Operation } from "../core/operation.ts"
import { FAULTS, type FaultCode, UNIVERSAL_FAULTS } from "../lib/faults.ts"
import { once } from "../lib/prepared.ts"
import { type Html, type HtmlPart, html } from "../ui/html.ts"
import { layout, pagePolicy } from "../ui/layout.ts"
import { actionsPart, type DocumentedAction } from "./actions.ts"
import { callLines } from "./call-lines.ts"
import { type Chapter, contents } from "./contents.ts"
import { codeLinks } from "./fault-link.ts"
import { type Group, groupsOf } from "./groups.ts"
import { operationPart } from "./operation-part.ts"
import { REFERENCE_SCRIPT } from "./reference-script.ts"
import { searchBox } from "./search-box.ts"
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

const START = "/docs"
const TOOLS = "/docs/tools"

/** Returns the pages of the reference by address. Each page is made when it is first used. */
export function referencePages(catalog: readonly Operation[], parts: ReferenceParts): Map<string, () => string> {
  const groups = groupsOf(catalog)
  const page = (address: string, title: string, summary: string, body: HtmlPart) =>
    layout(address === START ? title : `${title}: API reference`, summary, html`${searchBox()}${body}`, {
      aside: contents(chaptersOf(address, groups, parts.actions)),
      script: REFERENCE_SCRIPT,
    })
  return new Map([
    [
      START,
      once(() => page(START, "API reference", "Every call, write and tool, by subject.", startPart(groups, parts))),
    ],
    ...groups.map((group): [string, () => string] => [
      group.address,
      once(() => page(group.address, group.title, group.summary, groupPart(group, parts))),
    ]),
    [TOOLS, once(() => page(TOOLS, "Tools", "The tools for AI assistants.", toolsPart(catalog, parts.publicUrl)))],
  ])
}

function chaptersOf(current: string, groups: readonly Group[], actions: readonly DocumentedAction[]): Chapter[] {
  const pages = [
    { address: START, title: "Getting started", entries: [{ anchor: "any-call", text: "Every call" }] },
    ...groups.map(({ toolset, address, title, operations }) => {
      const writes = toolset === "writes" ? actions.map(({ name }) => ({ anchor: name, text: name })) : []
      return { address, title, entries: [...operations.map(entryOf), ...writes] }
    }),
    { address: TOOLS, title: "Tools", entries: [] },
  ]
  return pages.map((page) => ({ ...page, isCurrent: page.address === current }))
}

function entryOf({ id, method, path }: Operation) {
  return { anchor: id, text: `${method} ${shownPath(path)}` }
}

function groupPart(
  { toolset, summary, operations }: Group,
  { samples, actions, faultsOf, publicUrl }: ReferenceParts,
): Html {
  const sections = operations.map((operation) =>
    operationPart(operation, {
      sample: samples.get(operation.id) as SampleCall,
      faults: faultsOf(operation),
      publicUrl,
    }),
  )
  return html`<p>${summary}</p>
${askingPart()}
<h2 id="operations">Operations</h2>
${sections}${toolset === "writes" && actionsPart(actions, publicUrl)}`
}

function startPart(groups: readonly Group[], { publicUrl, actions }: ReferenceParts): Html {
  return html`<p>The API returns what Appmeter measured in the app stores, with the time and source of every figure. A
figure that was not measured is null, never zero.</p>
<h2 id="start">Getting started</h2>
<ol>
<li>Explore without a key: every read below <code>${publicUrl}/v1/sandbox</code> answers with fixed sample data for any
valid parameters. The commands and forms of this reference use it. Samples are shortened at “…”.</li>
<li>Get a key: the first start of the server printed one, and <code>appmeter key create</code> creates more. Paths are
relative to <code>${publicUrl}/v1</code>. Send the key as <code>Authorization: Bearer &lt;key&gt;</code> or
<code>x-api-key: &lt;key&gt;</code>, never in a URL.</li>
<li>Write in two calls: the first previews the changes, the second confirms them
(<a href="/docs/writes#actions">actions</a>).</li>
</ol>
${callLines("start", { url: `${publicUrl}/v1/sandbox/apps` })}
<p>The workspace of the first start may use everything; you set the limits of other workspaces. On a plan below Pro and
without a credit pack, a live key works on the tool endpoint but not over REST.</p>
<p>Also available: <a href="/v1/openapi.json">openapi.json</a> and <a href="/v1/openapi.yaml">openapi.yaml</a>,
<a href="/docs/errors">all error codes</a>, <a href="/llms.txt">llms.txt</a> for assistants, and
<a href="/docs/operate">the manual</a> for the operator of this instance.</p>
${everyCallPart()}
<div class="index">
${groups.map((group) => groupIndex(group, actions))}<h2 id="tools">Tools</h2>
<ul><li><a href="${TOOLS}">Tools for AI assistants</a> How to connect an assistant and limit its tools.</li></ul>
</div>`
}

/** Anchors from the time when the reference was a single page. */
const FORMER_ANCHORS: Partial<Record<Group["toolset"], string>> = {
  apps: "your-apps",
  revenue: "revenue-and-ads",
  writes: "actions",
}

/**
 * Lists the operations of a group. The group of actions also lists the writes. Each entry has the anchor that it had
 * when the reference was a single page.
 */
function groupIndex({ toolset, title, address, operations }: Group, actions: readonly DocumentedAction[]): Html {
  const former = FORMER_ANCHORS[toolset]
  const line = (id: string, label: HtmlPart, summary: string) =>
    html`<li id="${id}"><a href="${address}#${id}">${label}</a> ${summary}</li>\n`
  return html`<h2 id="${toolset}">${former && html`<span id="${former}"></span>`}<a href="${address}">${title}</a></h2>
<ul>
${operations.map(({ id, method, path, summary }) => line(id, `${method} ${shownPath(path)}`, summary))}${
  toolset === "writes" && actions.map(({ name, summary }) => line(name, name, summary))
}</ul>
`
}

function everyCallPart(): Html {
  return html`<h2 id="any-call">Every call</h2>
<p>Every response has the month's credits in <code>x-credits-used</code>, <code>x-credits-limit</code>,
<code>x-credits-remaining</code> and <code>x-credits-reset</code>, the calls left in this second in
<code>ratelimit</code>, and the id of the call in <code>x-request-id</code>: your own id if you send one in that header.
The log lists the call under it. The <code>traceparent</code> of a W3C trace is returned too.</p>
<p>A <code>GET</code> of stored data has an <code>etag</code>. Send it back as <code>if-none-match</code>: while the
content is unchanged, the response is 304 and costs nothing. Answers that wait for a measurement have none.</p>
<p><a href="/docs/operate/changes">Changes of the API</a> describes what is stable and how changes are announced.</p>
<p>An answer that can be large takes <code>fields</code>: its rows, or the answer itself, then have only these fields,
at the same price. A history can also be limited by days, keywords and pages. The pages of one walk keep its window;
keywords added in between come last.</p>
<p>Rows in CSV or JSON Lines repeat the answer's own fields in each row. An unknown figure is an empty cell, never 0. An
empty list is one row whose list cells are empty. In CSV, texts that a spreadsheet would read as a formula begin with an
apostrophe.</p>
<p>Every operation can return these errors, as far as they apply, besides its own:</p>
<ul>
${universalByStatus()}</ul>`
}

function universalByStatus(): Html[] {
  const statuses = [...new Set(UNIVERSAL_FAULTS.map((code) => FAULTS[code].status))].sort((a, b) => a - b)
  return statuses.map((status) => {
    const codes = UNIVERSAL_FAULTS.filter((code) => FAULTS[code].status === status)
    return html`<li>${status} ${codeLinks(codes)}</li>\n`
  })
}
