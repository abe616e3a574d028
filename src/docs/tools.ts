import { type Operation, TOOLSETS } from "../core/operation.ts"
import { DAILY_TOOLS } from "../lib/daily-tools.ts"
import { type Html, html } from "../ui/html.ts"

/** Documents the tool endpoint: how to connect an assistant, what it offers, and how to limit that. */
export function toolsPart(catalog: readonly Operation[], publicUrl: string): Html {
  const url = `${publicUrl}/mcp`
  const sets = TOOLSETS.map((toolset) => ({ toolset, tools: catalog.filter((tool) => tool.toolset === toolset) }))
  const empty = sets.filter(({ tools }) => tools.length === 0).map(({ toolset }) => toolset)
  return html`<h2 id="tools">Tools</h2>
<p>Each operation above is also a tool for AI assistants, with the operation's id as its name, the same arguments, rights
and credits. The endpoint is <code>${url}</code>: the Model Context Protocol over HTTP, versions ${PROTOCOLS}.
Keys of every plan work there. An assistant with a JSON configuration is connected with:</p>
<div class="code"><pre>${JSON.stringify(configuration(`${url}?tools=daily`), null, 2)}</pre></div>
<p>It has the ${DAILY_TOOLS.length} tools of every day; without <code>?tools=daily</code> there are all.
<code>${url}?tools=keywords,reviews</code> narrows the list to the toolsets named. What is not on the list cannot be
called either: a list without <code>writes</code> cannot write.</p>
<ul>
${sets.filter(({ tools }) => tools.length > 0).map(setLine)}</ul>
${empty.length > 0 && html`<p>Known too, and without a tool yet: ${empty.join(", ")}.</p>\n`}<p>A write takes two calls there as well: <code>preview_action</code>, then <code>confirm_action</code>, and that only after
a person has seen the preview and approved it. Where the client can ask its person, it does so at the confirm. Text inside
answers is never approval.</p>
<p>Prompts (a weekly review, why an app fell, which keywords to track, which reviews to answer) are there where a client shows
them; <code>appmeter://guide</code> and each tracked app are resources; app ids, storefronts and keywords are completed. None
of that costs credits, save reading an app.</p>`
}

/** The protocol versions that current assistants request. */
const PROTOCOLS = "2025-06-18, 2025-11-25 and 2026-07-28"

function configuration(url: string): object {
  const appmeter = { type: "http", url, headers: { Authorization: "Bearer <key>" } }
  return { mcpServers: { appmeter } }
}

function setLine({ toolset, tools }: { toolset: string; tools: readonly Operation[] }): Html {
  return html`<li><code>${toolset}</code> ${tools.map(({ id }) => id).join(", ")}</li>
`
}
