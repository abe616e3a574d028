import type { AnswerOf } from "../answers.ts"
import { parseRecordId } from "../lib/record-ids.ts"
import { storeIdInLink } from "../lib/store-pages.ts"
import { storefrontName } from "../lib/storefront-names.ts"
import { address, appAddress, type Page, type PageContext } from "../ui/app/context.ts"
import { type Face, readFaces, storeAppCode } from "../ui/app/faces.ts"
import { appIcon, badge } from "../ui/app/frame.ts"
import { card, empty } from "../ui/app/parts.ts"
import { type Html, html } from "../ui/html.ts"
import { counted } from "../ui/words.ts"

/** Finds apps, keywords and rivals of the workspace, and leads to the search of the stores. */
export async function searchPage(context: PageContext): Promise<Page> {
  const query = context.query.get("q")?.trim().slice(0, MAX_QUERY) ?? ""
  const page = (body: Html): Page => ({ title: "Search", at: "none", body })
  if (query === "")
    return page(
      html`<section class="card">
${empty("Nothing to search for", "Type the name of an app, a keyword or a rival.")}</section>`,
    )
  const { results, omitted } = await context.ask("search", { q: query })
  const codes = results.flatMap((result) => codeOf(result) ?? [])
  const faces = await readFaces(context, codes, "us")
  const items = results.map((result) => resultItem(context, result, faces.get(codeOf(result) ?? "")))
  const list =
    results.length === 0
      ? empty("Nothing was found in your workspace", "Another spelling may help.")
      : html`<ul class="list">${items}</ul>`
  const store = html`<p>
<a class="button" href="${address(`${context.base}/add`, { q: query })}">Find “${query}” in the stores</a></p>`
  return page(
    html`${card(`Results for “${query}”`, list, omitted > 0 && `${counted(omitted, "more result")} not shown`)}${
      !context.isSample && store
    }`,
  )
}

/** Longest text that the operation takes. */
const MAX_QUERY = 120

const KINDS = { app: "App", keyword: "Keyword", rival: "Rival" } as const

type Result = AnswerOf<"search">["results"][number]

/** Returns the code of the store app of an app or a rival. Null for a keyword. */
function codeOf({ id, url, kind }: Result): string | null {
  const record = parseRecordId(id)
  if (record?.kind === "rival") return storeAppCode(record.storeId)
  const storeId = kind === "app" ? storeIdInLink(url) : null
  return storeId && storeAppCode(storeId)
}

function resultItem(context: PageContext, { id, title, kind }: Result, face: Face | undefined): Html {
  const record = parseRecordId(id)
  if (record === null) return html``
  const app = { id: record.appId }
  if (record.kind === "keyword") {
    const ranks = address(appAddress(context, app, "ranks"), { terms: title, at: `${record.country}-ios` })
    return item(ranks, title, { badge: badge(title), note: `${KINDS[kind]} · ${storefrontName(record.country)}` })
  }
  const path =
    record.kind === "app"
      ? appAddress(context, app)
      : address(appAddress(context, app, "rival"), { rival: record.storeId })
  return item(path, title, { badge: appIcon(context, { name: title, icon: face?.icon ?? null }), note: KINDS[kind] })
}

function item(to: string, title: string, { badge, note }: { badge: Html; note: string }): Html {
  return html`<li><div class="subject">${badge}<div><p><a href="${to}"><bdi>${title}</bdi></a></p>
<p class="small quiet">${note}</p></div></div></li>
`
}
