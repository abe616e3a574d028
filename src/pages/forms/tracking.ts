import { Fault } from "../../lib/faults.ts"
import { bareText, readStoreLink, storeIdInLink, storeOf, whyNoApp } from "../../lib/store-pages.ts"
import { storefrontName, storefrontNamed } from "../../lib/storefront-names.ts"
import { WrongValue } from "../../tracking/checks.ts"
import {
  type BadLine,
  type FileKeyword,
  type KeywordFile,
  keywordsIn as readKeywordFile,
} from "../../tracking/keyword-file.ts"
import { type PageAnswer, seeOther } from "../../ui/answer.ts"
import { appAddress, type Page, type PageContext, readHead } from "../../ui/app/context.ts"
import { previewPage, type WritePreview } from "../../ui/app/write/preview.ts"
import { FormProblem } from "../../ui/fields.ts"
import { html } from "../../ui/html.ts"
import { counted } from "../../ui/words.ts"
import { atOnce, type PageForm, previewed, withMade, withSkipped, writeAtOnce } from "./page-form.ts"
import { appIn, linesIn, textIn, wordsIn } from "./read.ts"

const KEYWORD_RULE = { field: "keywords", rule: "Enter at least one keyword, each of at most 150 characters." }
const RIVAL_RULE = { field: "rivals", rule: "Enter rivals as links to their store pages or as ids." }
const APP_RULE = {
  field: "app",
  rule: "Enter a link to the app's store page, its App Store id or its package name.",
  showsDetail: true,
} as const

/** Maximum number of keywords or rivals in one write. Longer lists are written in pieces. */
const MAX_PIECE = 50

/** Maximum number of keywords that are added together with an app. The rest is added right after it. */
const MAX_FIRST = 400

export const addAppForm: PageForm = {
  rules: {
    iosId: APP_RULE,
    androidPkg: APP_RULE,
    name: { field: "name", rule: "Enter a name of at most 100 characters." },
    countries: { field: "countries", rule: "Choose storefronts that the store has.", showsDetail: true },
    keywords: KEYWORD_RULE,
  },
  async send(context, fields, back) {
    const countries = storefrontsIn(fields)
    const { keywords, bad } = listIn(fields)
    const first = isPlainList(keywords) ? keywords.slice(0, MAX_FIRST).map(({ term }) => term) : []
    const rest = keywords.slice(first.length)
    refuseOtherStorefronts(rest, countries)
    const args = {
      ...storeIdIn(fields.get("app") ?? "", "app", APP_RULE.rule),
      ...otherStoreIn(fields),
      countries,
      ...(first.length > 0 && { keywords: first }),
    }
    const write = await context.ask("preview_edit", { action: "add_app", args })
    const fixed: Record<string, string> = rest.length > 0 ? { rest: JSON.stringify(rest) } : {}
    const page = previewPage(context, write as WritePreview, { button: "Add app", back, fixed })
    const notes = [
      rest.length > 0 && `${counted(rest.length, "more keyword")} from your list are added right after.`,
      bad.length > 0 && `Skipped lines of the file: ${bad.length}. ${badText(bad)}`,
    ].filter((note) => note !== false)
    return { ...page, body: html`${page.body}${notes.map((note) => html`<p class="quiet">${note}</p>`)}` }
  },
}

/** The same app in the other store. */
function otherStoreIn(fields: URLSearchParams): { iosId?: string; androidPkg?: string } {
  const text = fields.get("other")?.trim() ?? ""
  if (text === "") return {}
  const first = storeIdIn(fields.get("app") ?? "", "app", APP_RULE.rule)
  const other = storeIdIn(text, "other", "Enter the link of the app in the other store, or its id there.")
  if ("iosId" in first === "iosId" in other)
    throw new FormProblem({ other: "Both are in the same store. Enter the link of the app in the other store." })
  return other
}

const addition = {
  action: "add_keywords",
  button: ({ keywords }: Record<string, unknown>) => `Add ${counted(lengthOf(keywords), "keyword")}`,
  split: (args: Record<string, unknown>) => pieces(args, "keywords"),
  carry: (left: readonly Record<string, unknown>[]): Record<string, string> =>
    left.length === 0 ? {} : { rest: JSON.stringify(left.flatMap(({ keywords }) => keywords).map(toFileKeyword)) },
}

const toFileKeyword = (keyword: unknown) => (typeof keyword === "string" ? { term: keyword, tags: [] } : keyword)

const addPlainForm = atOnce({
  ...addition,
  read: (fields) => ({ ...appIn(fields), keywords: someKeywordsIn(fields) }),
  rules: { keywords: KEYWORD_RULE },
})

/** Adds keywords that have storefronts or tags of their own. */
const imported = { ...addition, action: "import_keywords" }

const importForm = atOnce({
  ...imported,
  read: (fields) => ({ ...appIn(fields), keywords: importedIn(fields) }),
  rules: { keywords: KEYWORD_RULE },
})

export const addKeywordsForm: PageForm = {
  rules: { keywords: KEYWORD_RULE },
  async send(context, fields, back) {
    const { keywords, bad } = listIn(fields)
    const next = withSkipped(back, bad)
    if (isPlainList(keywords)) return await addPlainForm.send(context, fields, next)
    const { countries } = await readHead(context, appIn(fields).appId)
    refuseOtherStorefronts(keywords, countries)
    return await importForm.send(context, fields, next)
  },
}

/**
 * Adds the remaining keywords of the form right after the app was added. `rest` is the field of the preview that
 * contains them.
 */
export async function addRest(
  context: PageContext,
  { appId, rest }: { appId: string; rest: string },
  back: string,
): Promise<Page | PageAnswer> {
  return await writeAtOnce(context, imported, { args: { appId, keywords: restIn(rest) }, back, isAsShown: true })
}

/** Only parses the list. The write checks its entries. */
function restIn(text: string): unknown[] {
  try {
    const list: unknown = JSON.parse(text)
    if (Array.isArray(list)) return list
  } catch {
    // anybody can change a field
  }
  throw new Fault("invalid_arguments", { detail: "The list of keywords is damaged. Add them on the app's page." })
}

const isPlainList = (keywords: readonly FileKeyword[]) =>
  keywords.every(({ country, tags }) => country === undefined && tags.length === 0)

function refuseOtherStorefronts(keywords: readonly FileKeyword[], countries: readonly string[]): void {
  const other = keywords.find(({ country }) => country !== undefined && !countries.includes(country))
  if (other?.country === undefined) return
  const place = storefrontName(other.country)
  throw new FormProblem({
    file: `The file has keywords for ${place}, which is not a storefront of the app. Add the storefront first.`,
  })
}

export const removeKeywordsForm: PageForm = atOnce({
  action: "remove_keywords",
  read: (fields) => ({ ...appIn(fields), keywords: someKeywordsIn(fields) }),
  button: ({ keywords }) => `Remove ${counted(lengthOf(keywords), "keyword")}`,
  rules: { keywords: KEYWORD_RULE },
})

export const tagKeywordsForm: PageForm = atOnce(tagging(false))
export const untagKeywordsForm: PageForm = atOnce(tagging(true))

function tagging(remove: boolean) {
  return {
    action: "tag_keywords",
    read: (fields: URLSearchParams) => ({
      ...appIn(fields),
      keywords: someKeywordsIn(fields),
      tag: tagIn(fields),
      remove,
    }),
    button: () => (remove ? "Remove tag" : "Add tag"),
    rules: {
      keywords: { ...KEYWORD_RULE, showsDetail: true as const },
      tag: { field: "tag", rule: "Enter a tag of at most 100 characters." },
    },
  }
}

function tagIn(fields: URLSearchParams): string {
  const tag = fields.get("tag")?.trim() ?? ""
  if (tag === "") throw new FormProblem({ tag: "Enter a tag for the selected keywords." })
  return tag
}

export const buryKeywordsForm: PageForm = atOnce({
  action: "bury_keywords",
  read: (fields) => ({ ...appIn(fields), keywords: someKeywordsIn(fields) }),
  button: ({ keywords }) => `Bury ${counted(lengthOf(keywords), "keyword")}`,
  rules: { keywords: KEYWORD_RULE },
})

/** Opens the chart of the selected keywords. */
export const compareKeywordsForm: PageForm = {
  rules: {},
  async send(context, fields) {
    const { appId } = appIn(fields)
    const query = new URLSearchParams([["at", fields.get("at") ?? ""]])
    for (const term of someKeywordsIn(fields)) query.append("terms", term)
    return seeOther(`${appAddress(context, { id: appId }, "ranks")}?${query}`)
  },
}

export const addRivalsForm: PageForm = atOnce({
  action: "add_rivals",
  read: (fields) => ({ ...appIn(fields), rivals: rivalsIn(fields) }),
  button: ({ rivals }) => `Add ${counted(lengthOf(rivals), "rival")}`,
  split: (args) => pieces(args, "rivals"),
  rules: { rivals: { ...RIVAL_RULE, showsDetail: true } },
})

export const removeRivalsForm: PageForm = atOnce({
  action: "remove_rivals",
  read: (fields) => ({ ...appIn(fields), rivals: rivalsIn(fields) }),
  button: ({ rivals }) => `Hide ${counted(lengthOf(rivals), "rival")}`,
  split: (args) => pieces(args, "rivals"),
  rules: { rivals: RIVAL_RULE },
})

export const renameAppForm: PageForm = atOnce({
  action: "rename_app",
  read: (fields) => ({ ...appIn(fields), ...textIn("name", fields) }),
  button: () => "Rename app",
  rules: { name: { field: "name", rule: "Enter a name of at most 100 characters." } },
})

export const setAppGoalForm: PageForm = atOnce({
  action: "set_app_goal",
  read: (fields) => ({ ...appIn(fields), ...textIn("goal", fields) }),
  button: () => "Set goal",
  rules: {},
})

export const setStorefrontsForm: PageForm = previewed({
  action: "set_storefronts",
  read(fields) {
    const countries = storefrontsTyped(fields)
    if (countries.length === 0) throw new FormProblem({ countries: "Choose at least one storefront." })
    return { ...appIn(fields), countries, ...textIn("like", fields) }
  },
  button: () => "Change storefronts",
  rules: { countries: { field: "countries", rule: "Choose storefronts that the store has.", showsDetail: true } },
})

export const removeAppForm: PageForm = previewed({
  action: "remove_app",
  read: appIn,
  button: () => "Remove app",
  rules: {},
})

/** Undoes every change of a request, the last one first. */
export const undoForm: PageForm = {
  rules: {},
  async send(context, fields, back) {
    const { changes } = await context.ask("get_made_change", { requestId: fields.get("request") ?? "" })
    for (const { id } of changes.filter(({ canUndo }) => canUndo).toReversed()) {
      const { confirmToken } = await context.ask("preview_edit", { action: "undo_change", args: { change: id } })
      await context.ask("confirm_edit", { confirmToken })
    }
    return seeOther(withMade(context, back))
  },
}

function pieces(args: Record<string, unknown>, name: string): Record<string, unknown>[] {
  const list = args[name] as string[]
  const count = Math.ceil(list.length / MAX_PIECE)
  return Array.from({ length: count }, (_, at) => ({
    ...args,
    [name]: list.slice(at * MAX_PIECE, (at + 1) * MAX_PIECE),
  }))
}

const lengthOf = (list: unknown) => (list as readonly unknown[]).length

/** Returns the keywords of the field, of selected rows and of an uploaded file, each once. */
function keywordsIn(fields: URLSearchParams): string[] {
  return [...new Set(importedIn(fields).map(({ term }) => term))]
}

/** Returns the keywords of the form, with the storefronts and tags of a file. */
const importedIn = (fields: URLSearchParams): FileKeyword[] => listIn(fields).keywords

/** Returns the keywords of the form, and the lines of its file that cannot be used. */
function listIn(fields: URLSearchParams): KeywordFile {
  const file = fields.get("file") ?? ""
  const typed = [...new Set([...fields.getAll("terms"), ...linesIn(fields, "keywords")])]
  const { keywords, bad } = file.trim() === "" ? NO_FILE : keywordsOfFile(file)
  return { keywords: [...typed.map((term) => ({ term, country: undefined, tags: [] })), ...keywords], bad }
}

const NO_FILE: KeywordFile = { keywords: [], bad: [] }

function keywordsOfFile(text: string): KeywordFile {
  try {
    const { keywords, bad } = readKeywordFile(text)
    if (bad.length > 0 && keywords.length === 0) throw new FormProblem({ file: badText(bad) })
    return { keywords: keywords.map((keyword) => ({ ...keyword, term: keyword.term.trim() })), bad }
  } catch (error) {
    if (error instanceof WrongValue) throw new FormProblem({ file: FILE_RULE })
    throw error
  }
}

const MAX_BAD_LINES = 5

/** Names the first lines that cannot be used. */
function badText(bad: readonly BadLine[]): string {
  const lines = bad.slice(0, MAX_BAD_LINES).map(({ line, reason }) => `Line ${line}: ${reason}.`)
  return lines.join(" ") + (bad.length > MAX_BAD_LINES ? " And more." : "")
}

const FILE_RULE = "The first line of the file must name its columns. One of them must be called keyword."

function someKeywordsIn(fields: URLSearchParams): string[] {
  const keywords = keywordsIn(fields)
  if (keywords.length === 0) throw new FormProblem({ keywords: "Enter or select at least one keyword." })
  return keywords
}

function rivalsIn(fields: URLSearchParams): string[] {
  const rivals = linesIn(fields, "rivals")
  if (rivals.length === 0) throw new FormProblem({ rivals: "Enter or select at least one rival." })
  return rivals.map(rivalIn)
}

function rivalIn(text: string): string {
  if (/^(?:ios|android):/.test(text)) return text
  const id = storeIdIn(text, "rivals", RIVAL_RULE.rule)
  return "iosId" in id ? `ios:${id.iosId}` : `android:${id.androidPkg}`
}

/** Returns the storefronts of the form. If none are given, returns that of the app's link, or the United States. */
function storefrontsIn(fields: URLSearchParams): string[] {
  const typed = storefrontsTyped(fields)
  if (typed.length > 0) return typed
  const link = readStoreLink(fields.get("app") ?? "")
  return [link !== null && "id" in link ? (link.storefront ?? "us") : "us"]
}

/** Returns the chosen storefronts and those typed by code or name. Throws FormProblem. */
function storefrontsTyped(fields: URLSearchParams): string[] {
  const texts = [...fields.getAll("countries"), fields.get("more") ?? ""]
  const typed = wordsIn(texts.join("\n"), /[\n,;]+/)
  // codes may be separated by spaces, but names contain spaces
  const words = typed.flatMap((text) => (storefrontNamed(text) === undefined ? text.split(/\s+/) : [text]))
  const unknown = words.find((word) => storefrontNamed(word) === undefined)
  if (unknown !== undefined) {
    const message = `“${unknown.slice(0, 40)}” is not a storefront. Enter a country or its code.`
    throw new FormProblem({ [fields.has("more") ? "more" : "countries"]: message })
  }
  return [...new Set(words.map((word) => storefrontNamed(word) as string))]
}

/** Returns the app of a store link or id. Digits are an App Store id. Throws FormProblem. */
function storeIdIn(text: string, field: string, rule: string): { iosId: string } | { androidPkg: string } {
  const why = whyNoApp(text)
  if (why !== null) throw new FormProblem({ [field]: why })
  const store = storeOf(text)
  if (store === null) throw new FormProblem({ [field]: rule })
  const id = storeIdInLink(text) ?? bareText(text)
  return store === "ios" ? { iosId: id } : { androidPkg: id }
}
