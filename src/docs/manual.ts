import type { Operation } from "../core/operation.ts"
import { type Html, html } from "../ui/html.ts"
import { layout, pagePolicy } from "../ui/layout.ts"
import type { DocumentedAction } from "./actions.ts"
import { assistantSections, SAMPLE } from "./assistants.ts"
import { type MarkdownPage, renderMarkdown } from "./markdown.ts"
import { actionRows, callRows, deprecatedRows, logRows, settingRows } from "./tables.ts"

/** Folder of the pages, relative to the project root. */
export const MANUAL_FOLDER = "src/docs/manual"

/** Allows only the page's own style. */
export const MANUAL_POLICY = pagePolicy()

const ADDRESS = "/docs/operate"

/** Names of the pages in the order of the contents. Each is a file in MANUAL_FOLDER. */
export const MANUAL_PAGES = [
  "start", "terminal", "assistants", "signin", "settings", "data", "upgrade", "processes", "proxy", "secrets", "doctor",
  "measuring", "market", "estimates", "texts", "visibility", "import", "alerts", "accounts", "links", "writes", "plans", "limits", "changes", "changelog",
] as const // biome-ignore format: a list to scan

interface ManualParts {
  /** The files in MANUAL_FOLDER by name, such as "settings.md". index.md introduces the other pages. */
  files: ReadonlyMap<string, string>
  catalog: readonly Operation[]
  actions: readonly DocumentedAction[]
}

/** Returns the addresses of the manual. It does not need the files. */
export function manualAddresses(): { page: string; address: string }[] {
  return ["index", ...MANUAL_PAGES].map((page) => ({ page, address: addressOf(page) }))
}

/** Returns the manual's pages as Markdown by name, with generated tables filled in and links relative to the root. */
export function manualTexts({ files, catalog, actions }: ManualParts): Map<string, string> {
  const tables: Record<string, () => string> = {
    settings: settingRows,
    log: logRows,
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

/** Returns a page of the manual as HTML, with a list of the other pages. */
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

/** Returns a list of all pages, each with its first sentence. */
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

/** Removes ".md" from links for HTML. The Markdown keeps it, so that assistants can follow the links too. */
function hrefOf(target: string): string {
  return target.startsWith(ADDRESS) ? target.replace(/\.md(?=#|$)/, "") : target
}
