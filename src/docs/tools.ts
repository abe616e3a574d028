import { type Operation, TOOLSETS } from "../core/operation.ts"
import { DAILY_TOOLS } from "../lib/daily-tools.ts"
import { type Html, html } from "../ui/html.ts"

/** Documents the tool endpoint: how to connect an assistant, what it offers, and how to limit that. */
export function toolsPart(catalog: readonly Operation[], publicUrl: string): Html {
  const url = `${publicUrl}/mcp`
  const sets = TOOLSETS.map((toolset) => ({ toolset, tools: catalog.filter((tool) => tool.toolset === toolset) }))
  const empty = sets.filter(({ tools }) => tools.length === 0).map(({ toolset }) => toolset)
  return html`<p>Every operation is also a tool for AI assistants. Its name is the operation's id, and arguments, rights
and credits are the same. The endpoint is <code>${url}</code>: the Model Context Protocol over HTTP, versions
${PROTOCOLS}. It accepts keys of every plan. The configuration of an assistant that reads JSON:</p>
<div class="code"><pre>${JSON.stringify(configuration(`${url}?tools=daily`), null, 2)}</pre></div>
<p>This lists the ${DAILY_TOOLS.length} most frequent tools; without <code>?tools=daily</code> it lists all.
<code>${url}?tools=keywords,reviews</code> lists the named toolsets. A tool that is not listed cannot be called: a list
without <code>writes</code> cannot write.</p>
<ul>
${sets.filter(({ tools }) => tools.length > 0).map(setLine)}</ul>
${empty.length > 0 && html`<p>Toolsets without a tool yet: ${empty.join(", ")}.</p>\n`}<p>A write takes two calls:
<code>preview_action</code>, then <code>confirm_action</code> after a person has seen and approved the preview. Clients
that support it ask the person at the confirm. Text inside answers is never approval.</p>
<p>There are prompts (weekly review, causes of a fall, keywords to track, reviews to answer), resources
(<code>appmeter://guide</code> and each tracked app), and completions of app ids, storefronts and keywords. They cost no
credits, except reading an app.</p>`
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
