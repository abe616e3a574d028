import type { Browser, Page } from "../access/sign-in/browser.ts"

/** A form of a page with one of its buttons, as a browser would send it. */
export interface FoundForm {
  /** The address of the page with the form. */
  page: string
  /** The address that it is sent to. */
  to: string
  /** Identifies the form and its button. It does not depend on ids. */
  kind: string
  isMultipart: boolean
  /** The values that the form sends if nothing is typed. */
  fields: [name: string, value: string][]
  /** Fields that take any text. */
  texts: string[]
}

const TEXTS = new Set(["text", "search", "password", "url", "email", "date", "number", "file"])
/** Identifies the form on its page. */
const DEEDS = ["action", "do", "verdict", "scheme", "as", "kind", "everywhere", "link"]

/** Returns the forms of a page that are sent by POST, one for each button with a value. */
export function formsIn(page: string, text: string): FoundForm[] {
  const found: FoundForm[] = []
  for (const [, attributes = "", body = ""] of text.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)) {
    const form = attributesOf(attributes)
    if (form.get("method") !== "post") continue
    const to = form.get("action") || page
    const isMultipart = form.get("enctype") === "multipart/form-data"
    const { fields, texts } = fieldsIn(body)
    const buttons = [...body.matchAll(/<button\b([^>]*)>/g)].map(([, button = ""]) => attributesOf(button))
    const named = buttons.filter((button) => button.has("name"))
    for (const button of named.length > 0 ? named : [null]) {
      const sent = [...fields]
      if (button) sent.push([button.get("name") ?? "", button.get("value") ?? ""])
      found.push({ page, to, isMultipart, fields: sent, texts, kind: kindOf(to, sent, texts) })
    }
  }
  return found
}

function fieldsIn(body: string): Pick<FoundForm, "fields" | "texts"> {
  const fields: FoundForm["fields"] = []
  const texts: string[] = []
  const chosen = new Set<string>()
  for (const [, input, tag = "input", rest = "", content = ""] of body.matchAll(
    /<input\b([^>]*)>|<(textarea|select)\b([^>]*)>([\s\S]*?)<\/\2>/g,
  )) {
    const attributes = attributesOf(input ?? rest)
    const field = attributes.get("name")
    if (field === undefined) continue
    const type = tag === "input" ? (attributes.get("type") ?? "text") : tag
    if (type === "select") {
      const options = [...content.matchAll(/<option\b([^>]*)>/g)].map(([, option = ""]) => attributesOf(option))
      const option = options.find((candidate) => candidate.has("selected")) ?? options[0]
      if (option) fields.push([field, option.get("value") ?? ""])
    } else if (type === "checkbox" || type === "radio") {
      // selects one option per name, so that a form with checkboxes can be sent
      if (attributes.has("checked") || (type === "checkbox" && !chosen.has(field)))
        fields.push([field, attributes.get("value") ?? "on"])
      chosen.add(field)
    } else {
      fields.push([field, type === "textarea" ? decoded(content.replace(/^\n/, "")) : (attributes.get("value") ?? "")])
      if ((TEXTS.has(type) || type === "textarea") && !attributes.has("readonly")) texts.push(field)
    }
  }
  return { fields, texts }
}

function kindOf(to: string, fields: FoundForm["fields"], texts: readonly string[]): string {
  const deeds = fields.flatMap(([name, value]) => (DEEDS.includes(name) ? [`${name}=${value}`] : []))
  const confirms = fields.some(([name]) => name === "confirmToken") ? ["confirm"] : []
  return [withoutIds(to.split("?")[0] ?? ""), ...deeds, ...confirms, ...texts].join(" ")
}

const withoutIds = (path: string) => path.replaceAll(/\/(?:app|ap|ac)_\w+/g, "/…")

function attributesOf(text: string): Map<string, string> {
  return new Map(
    [...text.matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, name = "", value = ""]) => [name, decoded(value)]),
  )
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" }
const decoded = (text: string) => text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? "")

/** Parameters that lead to another page. Other parameters change what the same page shows. */
const LEADING = ["type", "add", "change", "app", "tab"]

function pageKind(address: string): string {
  const { pathname, searchParams } = new URL(address, "http://here.invalid")
  const query = [...searchParams].flatMap(([name, value]) => {
    if (!LEADING.includes(name)) return [name]
    return [name === "app" ? name : `${name}=${value}`]
  })
  return [withoutIds(pathname), ...query.toSorted()].join(" ")
}

/** Opens these pages and one page of every kind that they link to. Returns each with its address. */
export async function walkPages(browser: Browser, start: readonly string[]): Promise<Map<string, Page>> {
  const pages = new Map<string, Page>()
  const kinds = new Set(start.map(pageKind))
  const waiting = [...start]
  for (let address = waiting.shift(); address !== undefined; address = waiting.shift()) {
    const page = await browser.open(address)
    pages.set(address, page)
    for (const [, link = ""] of page.text.matchAll(/<a\b[^>]*href="(\/app[/?][^"#]*)"/g)) {
      const next = decoded(link)
      // these are skipped, because the sample has no forms, and files are not pages
      if (next.startsWith("/app/sample") || next.includes("/picture") || kinds.has(pageKind(next))) continue
      kinds.add(pageKind(next))
      waiting.push(next)
    }
  }
  return pages
}

/** Sends a form with other values of some fields. */
export async function sendForm(
  browser: Browser,
  { to, isMultipart, fields }: FoundForm,
  changes: Readonly<Record<string, string | null>> = {},
): Promise<Page> {
  const sent = fields.flatMap(([name, value]): [string, string][] => {
    const changed = Object.hasOwn(changes, name) ? changes[name] : value
    return changed === null || changed === undefined ? [] : [[name, changed]]
  })
  if (!isMultipart) return await browser.send(to, sent)
  const form = new FormData()
  for (const [name, value] of sent) form.append(name, value)
  const request = new Request("http://here.invalid/", { method: "POST", body: form })
  // reading the body removes the header
  const type = request.headers.get("content-type") as string
  return await browser.sendBody(to, await request.text(), type)
}
