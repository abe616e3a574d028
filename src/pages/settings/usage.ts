import type { AnswerOf } from "../../answers.ts"
import type { Page, PageContext } from "../../ui/app/context.ts"
import { card } from "../../ui/app/parts.ts"
import type { SettingsSection } from "../../ui/app/settings.ts"
import { shareBar } from "../../ui/charts/small.ts"
import { type Html, html } from "../../ui/html.ts"
import { figure, spoken } from "../../ui/words.ts"

type Usage = AnswerOf<"get_usage">

export function usageSection(): SettingsSection {
  return {
    name: "Plan and usage",
    about: "See how much of each limit is used.",
    path: "usage",
    needs: null,
    notices: {},
    show: ({ context }) => usagePart(context),
    forms: {},
  }
}

/** The page about plan and usage in the sample. */
export async function usagePage(context: PageContext): Promise<Page> {
  return { title: "Plan and usage", at: "/usage", body: await usagePart(context) }
}

async function usagePart(context: PageContext): Promise<Html> {
  const usage = await context.ask("get_usage")
  return card("Plan and usage", quotaTable(usage), `Plan ${usage.plan}`)
}

const PERIODS: Record<string, string> = { stock: "at once", month: "this month", day: "today", rate: "" }

function quotaTable({ quotas }: Usage): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Usage"><table class="rows"><thead>
<tr><th scope="col">Limit</th><th scope="col" class="num">Used</th><th scope="col" class="num">Allowed</th>
<th scope="col" class="wide">Share</th></tr></thead>
<tbody>${quotas.map(quotaRow)}</tbody></table></div>`
}

function quotaRow({ key, kind, used, limit }: Usage["quotas"][number]): Html {
  const share = used !== null && limit !== null && limit > 0 ? used / limit : null
  return html`<tr><th scope="row">${spoken(key)} <span class="quiet small">${PERIODS[kind] ?? kind}</span></th>
<td class="num">${figure(used)}</td><td class="num">${limit === null ? "none" : figure(limit)}</td>
<td class="wide cut">${share !== null && shareBar(share, share > 0.9 ? "hard" : "")}</td></tr>
`
}
