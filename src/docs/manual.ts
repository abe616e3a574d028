import type { Operation } from "../core/operation.ts"
import { type Html, html } from "../ui/html.ts"
import { layout, pagePolicy } from "../ui/layout.ts"
import type { DocumentedAction } from "./actions.ts"
import { assistantSections, SAMPLE } from "./assistants.ts"
import { type MarkdownPage, renderMarkdown } from "./markdown.ts"
import { actionRows, callRows, deprecatedRows, settingRows } from "./tables.ts"

/** Where the pages are kept, from the project's root. */
export const MANUAL_FOLDER = "src/docs/manual"

/** The page's own style, and nothing else. */
export const MANUAL_POLICY = pagePolicy()

const ADDRESS = "/docs/operate"

/** Names of the pages in the order of the contents; each is a file of MANUAL_FOLDER. */
export const MANUAL_PAGES = [
  "start", "terminal", "assistants", "signin", "settings", "data", "upgrade", "processes", "proxy", "secrets", "doctor",
  "measuring", "market", "estimates", "texts", "visibility", "import", "alerts", "accounts", "links", "writes", "plans", "limits", "changes",
] as const // biome-ignore format: a list to scan

interface ManualParts {
  /** The files of MANUAL_FOLDER by name, "settings.md"; index.md introduces the others. */
  files: ReadonlyMap<string, string>
  catalog: readonly Operation[]
  actions: readonly DocumentedAction[]
}

/** The addresses of the manual, known before its files are read. */
export function manualAddresses(): { page: string; address: string }[] {
  return ["index", ...MANUAL_PAGES].map((page) => ({ page, address: addressOf(page) }))
}

/** The manual's pages as Markdown, by name: tables that follow from the code filled in, links from the root. */
export function manualTexts({ files, catalog, actions }: ManualParts): Map<string, string> {
  const tables: Record<string, () => string> = {
    settings: settingRows,
    calls: () => callRows(catalog),
    deprecated: () => deprecatedRows(catalog),
    actions: () => actionRows(actions),
    assistants: () => assistantSections(SAMPLE),
    contents: () => contentsOf(files),
  }
  const filled = (text: string) =>
    text
      .replaceAll(/^\{\{(\w+)\}\}$/gm, (_, table: string) => (tables[table] as () => string)())
      .replaceAll(/\]\((\w+)\.md(#[\w-]+)?\)/g, (_, page, anchor = "") => `](${addressOf(page)}.md${anchor})`)
  return new Map(["index", ...MANUAL_PAGES].map((page) => [page, filled(textOf(files, page))]))
}

/** A page of the manual as HTML, with the others beside it. */
export function manualPage(texts: ReadonlyMap<string, string>, page: string): string {
  const pages = new Map([...texts].map(([name, text]) => [name, renderMarkdown(text, hrefOf)]))
  const { title, summary, body } = pages.get(page) as MarkdownPage
  return layout(title, summary, body, { aside: pageList(pages, page) })
}

function pageList(pages: ReadonlyMap<string, MarkdownPage>, shown: string): Html {
  return html`${[...pages].map(
    ([name, { title }]) =>
      html`<a class="chapter" href="${addressOf(name)}"${name === shown && html` aria-current="page"`}>${title}</a>\n`,
  )}`
}

/** A list of all pages, each with its first sentence. */
function contentsOf(files: ReadonlyMap<string, string>): string {
  const lines = MANUAL_PAGES.map((page) => {
    const { title, summary } = renderMarkdown(textOf(files, page), hrefOf)
    return `- [${title}](${page}.md): ${summary.replaceAll("\n", " ").replace(/(?<=\.) .*/, "")}`
  })
  return lines.join("\n")
}

function textOf(files: ReadonlyMap<string, string>, page: string): string {
  return files.get(`${page}.md`) as string
}

function addressOf(page: string): string {
  return page === "index" ? ADDRESS : `${ADDRESS}/${page}`
}

/** Pages link to each other as Markdown, so that an assistant can follow them too. */
function hrefOf(target: string): string {
  return target.startsWith(ADDRESS) ? target.replace(/\.md(?=#|$)/, "") : target
}
