import type { Operation } from "../core/operation.ts"
import { type Html, html } from "../ui/html.ts"
import { layout, pagePolicy } from "../ui/layout.ts"
import type { DocumentedAction } from "./actions.ts"
import { assistantSections, SAMPLE } from "./assistants.ts"
import { type MarkdownPage, markdownSections, renderMarkdown } from "./markdown.ts"
import { searchBox } from "./search-box.ts"
import { actionRows, callRows, channelRows, deprecatedRows, logRows, roleRows, settingRows } from "./tables.ts"

/** Folder of the pages, relative to the project root. */
export const MANUAL_FOLDER = "src/docs/manual"

/** Allows the page's own style and the search form. */
export const MANUAL_POLICY = pagePolicy({ forms: ["'self'"] })

const ADDRESS = "/docs/operate"

/** Names of the pages in the order of the contents. Each is a file in MANUAL_FOLDER. */
export const MANUAL_PAGES = [
  "start",
  "terminal",
  "assistants",
  "signin",
  "people",
  "settings",
  "data",
  "upgrade",
  "processes",
  "proxy",
  "secrets",
  "doctor",
  "measuring",
  "market",
  "estimates",
  "texts",
  "visibility",
  "import",
  "alerts",
  "mail",
  "accounts",
  "links",
  "sql",
  "writes",
  "plans",
  "limits",
  "changes",
  "changelog",
] as const

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
    channels: channelRows,
    deprecated: () => deprecatedRows(catalog),
    actions: () => actionRows(actions),
    roles: () => roleRows(catalog, actions),
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
  return layout(title, summary, html`${searchBox()}${body}`, { aside: pageList(pages, page) })
}

/** A part of the manual: the text below one heading, as plain text. */
export interface ManualSection {
  title: string
  text: string
  address: string
}

/** Returns the sections of all pages. */
export function manualSections(texts: ReadonlyMap<string, string>): ManualSection[] {
  return [...texts].flatMap(([page, text]) => {
    const [first, ...otherSections] = markdownSections(text)
    const { title = "", text: introduction = "" } = first ?? {}
    const sections = otherSections.map(({ title: heading, text: body, anchor }) => ({
      title: `${title}: ${heading}`,
      text: body,
      address: `${addressOf(page)}#${anchor}`,
    }))
    return [{ title, text: introduction, address: addressOf(page) }, ...sections]
  })
}

function pageList(pages: ReadonlyMap<string, MarkdownPage>, current: string): Html {
  const lines = [...pages].map(([name, { title }]) => {
    const mark = name === current && html` aria-current="page"`
    return html`<a class="chapter" href="${addressOf(name)}"${mark}>${title}</a>\n`
  })
  return html`${lines}`
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
