import type { AnswerOf } from "../answers.ts"
import { attempted, type Desk, isFault, type Page } from "../ui/app/desk.ts"
import { card, empty, refusedPart } from "../ui/app/parts.ts"
import { shareBar } from "../ui/charts/small.ts"
import { type Html, html } from "../ui/html.ts"
import { dayTime } from "../ui/times.ts"
import { counted, figure, spoken } from "../ui/words.ts"

type Usage = AnswerOf<"get_usage">
type Keys = AnswerOf<"list_keys">

/** Shows the usage of each limit, and the keys that used it. */
export async function usagePage(desk: Desk): Promise<Page> {
  const [usage, keys] = await Promise.all([desk.ask("get_usage"), attempted(desk.ask("list_keys"))])
  return {
    title: "Keys and usage",
    at: "/usage",
    body: html`${card("Usage", quotaTable(usage), `Plan ${usage.plan}: the limits are yours to set`)}${
      isFault(keys) ? card("Keys", refusedPart(keys)) : keysPart(keys)
    }`,
  }
}

const PERIODS: Record<string, string> = { stock: "at once", month: "this month", day: "today", rate: "" }

function quotaTable({ quotas }: Usage): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Usage"><table class="rows"><thead><tr><th scope="col">Of what</th><th scope="col" class="num">Used</th><th scope="col" class="num">Limit</th><th scope="col" class="wide">Share</th></tr></thead>
<tbody>${quotas.map(
    ({
      key,
      kind,
      used,
      limit,
    }) => html`<tr><th scope="row">${spoken(key)} <span class="quiet small">${PERIODS[kind] ?? kind}</span></th><td class="num">${figure(used)}</td><td class="num">${limit === null ? "none" : figure(limit)}</td><td class="wide cut">${used !== null && limit !== null && limit > 0 && shareBar(used / limit, used / limit > 0.9 ? "hard" : "")}</td></tr>
`,
  )}</tbody></table></div>`
}

function keysPart({ keys }: Keys): Html {
  if (keys.length === 0)
    return card(
      "Keys",
      empty("No key", "A key lets a program or an assistant in.", { command: "appmeter key create --name ci" }),
    )
  return card(
    "Keys",
    html`<ul class="list">${keys.map(
      ({
        name,
        kind,
        hint,
        state,
        scopes,
        apps,
        used,
        monthlyBudget,
        expiresAt,
        createdAt,
      }) => html`<li><p><strong><bdi>${name}</bdi></strong> ${hint && html`<span class="hash">${hint}</span>`} <span class="tag${state === "usable" ? " good" : " warn"}">${spoken(state).toLowerCase()}</span> <span class="tag">${kind}</span></p>
<p class="small quiet">${figure(used)}${monthlyBudget !== null && html` of ${figure(monthlyBudget)}`} credits this month · ${counted(scopes.length, "scope")}${apps !== null && ` · ${counted(apps, "app")} alone`} · made ${dayTime(createdAt.slice(0, 10))}${expiresAt && html` · until ${dayTime(expiresAt.slice(0, 10))}`}</p></li>
`,
    )}</ul>`,
    html`<code>appmeter key create</code> makes one`,
  )
}
