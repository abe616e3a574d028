import { parseRecordId } from "../lib/record-ids.ts"
import { storefrontName } from "../lib/storefront-names.ts"
import { address, appAddress, type Desk, type Page } from "../ui/app/desk.ts"
import { badge } from "../ui/app/frame.ts"
import { card, empty } from "../ui/app/parts.ts"
import { type Html, html } from "../ui/html.ts"
import { counted } from "../ui/words.ts"

/** Finds apps, keywords and rivals of the workspace, and leads to the search of the stores. */
export async function searchPage(desk: Desk): Promise<Page> {
  const query = desk.query.get("q")?.trim().slice(0, MAX_QUERY) ?? ""
  const page = (body: Html): Page => ({ title: "Search", at: "none", body })
  if (query === "")
    return page(
      html`<section class="card">${empty("Nothing to search for", "Type the name of an app, a keyword or a rival.")}</section>`,
    )
  const { results, omitted } = await desk.ask("search", { q: query })
  const list =
    results.length === 0
      ? empty("Nothing was found in your workspace", "Another spelling may help.")
      : html`<ul class="list">${results.map((result) => resultItem(desk, result))}</ul>`
  const store = html`<p><a class="button" href="${address(`${desk.base}/add`, { q: query })}">Find “${query}” in the stores</a></p>`
  return page(
    html`${card(`Results for “${query}”`, list, omitted > 0 && `${counted(omitted, "more result")} not shown`)}${!desk.isSample && store}`,
  )
}

/** Longest text that the operation takes. */
const MAX_QUERY = 120

const KINDS = { app: "App", keyword: "Keyword", rival: "Rival" } as const

function resultItem(desk: Desk, { id, title, kind }: { id: string; title: string; kind: keyof typeof KINDS }): Html {
  const record = parseRecordId(id)
  if (record === null) return html``
  const app = { id: record.appId }
  if (record.kind === "keyword") {
    const ranks = address(appAddress(desk, app, "ranks"), { terms: title, at: `${record.country}-ios` })
    return item(ranks, title, `${KINDS[kind]} · ${storefrontName(record.country)}`)
  }
  const path =
    record.kind === "app" ? appAddress(desk, app) : address(appAddress(desk, app, "rival"), { rival: record.storeId })
  return item(path, title, KINDS[kind])
}

function item(to: string, title: string, said: string): Html {
  return html`<li><div class="subject">${badge(title)}<div><p><a href="${to}"><bdi>${title}</bdi></a></p>
<p class="small quiet">${said}</p></div></div></li>
`
}
