import type { Right } from "../../access/scopes.ts"
import type { Person } from "../../access/sign-in/person.ts"
import type { PageAnswer } from "../answer.ts"
import { areaField, type FormState } from "../fields.ts"
import { type Html, type HtmlPart, html } from "../html.ts"
import { address, type Page, type PageContext } from "./context.ts"
import { card } from "./parts.ts"

/** One request of a signed-in person for a page of /app/settings. */
export interface SettingsVisit {
  context: PageContext
  workspaceId: number
  workspace: string
  person: Person
  publicUrl: string
  /** The browser's IP address. Attempts to enter a passphrase are counted by it. */
  from: string | null
  /** The address of this page, with its query. A refused form is shown again at this address. */
  here: string
}

/** The outcome of a form. A page that contains a secret or a question is shown only in the response to this request. */
export type FormOutcome = { to: string; done?: string } | { page: Page } | { file: PageAnswer }

export interface SettingsForm {
  /**
   * The name of the change in the audit, which is the name of the command that makes the same change. Null if the form
   * changes nothing.
   */
  audit: string | null
  /** Throws FormProblem or AccessProblem to show the form again. */
  send(visit: SettingsVisit, fields: URLSearchParams): Promise<FormOutcome>
  /** Maximum duration, for forms that call an outside service. */
  limitMs?: number
}

/** A page of /app/settings and the forms on it. */
export interface SettingsSection {
  name: string
  /** One line about what a person does on the page. */
  about: string
  /** Path below /app/settings/. Empty for the first page. */
  path: string
  /** The right that a person needs to open the page. Null if everybody may open it. */
  needs: Right | null
  /** True if every form can be undone by another form, so that the passphrase is not requested again. */
  isReversible?: boolean
  /** Messages shown after a form, by the name that the address contains. */
  notices: Readonly<Record<string, string>>
  show(visit: SettingsVisit): Promise<Html>
  forms: Readonly<Record<string, SettingsForm>>
}

/**
 * Returns whether a person may open a section and send its forms. This function alone decides it, for every page and
 * form of /app/settings. A section that needs a right shows data of the whole workspace, so a person who is limited to
 * some apps may not open it.
 */
export function mayOpen(person: Person, { needs }: Pick<SettingsSection, "needs">): boolean {
  if (needs === null) return true
  if (needs === "server:operate") return person.isOperator
  return person.appList === null && person.scopes.includes(needs)
}

/**
 * Returns whether the forms of a section ask for the passphrase again. They do not if it was typed in the last ten
 * minutes.
 */
export function isSensitive({ needs, isReversible = false }: SettingsSection): boolean {
  if (isReversible) return false
  return needs === "workspace:manage" || needs === "server:operate"
}

export const SETTINGS = "/app/settings"

export function sectionAddress(path: string, query: Record<string, string | null> = {}): string {
  return address(path === "" ? SETTINGS : `${SETTINGS}/${path}`, query)
}

interface FormOptions {
  /** The name of the form among those of its section. */
  form: string
  /** The item that the form is about. Needed if a page has a form for each item. */
  of?: string
  fixed?: Readonly<Record<string, string>>
  /** Names the action: "Create key". */
  button: string
  /** "main" marks the one action that the page is for. "quiet" is a button in a row of a list. */
  tone?: "main" | "quiet"
  hasFile?: boolean
  cancel?: string
}

/** A form that changes settings. If it is refused, its fields are shown again with the values that were sent. */
export function settingsForm(
  visit: SettingsVisit,
  { form, of, fixed = {}, button, tone, hasFile = false, cancel }: FormOptions,
  fields: (state: FormState) => HtmlPart = () => "",
): Html {
  const { context, here } = visit
  const { refused } = context
  const id = formId(form, of)
  const state = refused?.id === id ? refused : { id, values: null, errors: {} }
  const values = { do: form, ...(of !== undefined && { id: of }), ...fixed }
  const hidden = [...context.formFields, ...Object.entries(values)].map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  const isInList = tone === "quiet"
  return html`<form${!isInList && html` class="stacked"`} method="post" action="${here}"${
    hasFile && html` enctype="multipart/form-data"`
  }>${hidden}${fields(state)}<div class="send"><button${
    tone === "main" && html` class="main"`
  } type="submit">${button}</button>${cancel && html`<a class="button quiet" href="${cancel}">Cancel</a>`}</div></form>
`
}

/** The id of a form on its page. */
export function formId(form: string, of?: string): string {
  return of === undefined ? form : `${form}-${of}`
}

interface ConfirmOptions {
  title: string
  body: HtmlPart
  notes?: readonly HtmlPart[]
  cancel: string
}

/** A card with text and forms. */
export function formCard(title: string | Html, ...content: HtmlPart[]): Html {
  return card(title, html`<div class="inside">${content}</div>`)
}

/** An entry of a list: what it is, more about it, and its buttons. */
export function listItem(title: HtmlPart, details: HtmlPart, buttons: HtmlPart = false): Html {
  return html`<li><p>${title}</p>
<p class="small quiet">${details}</p>
${buttons && html`<div class="buttons">${buttons}</div>`}</li>
`
}

/** A table whose first column names the row. */
export function namedTable(label: string, columns: readonly string[], rows: readonly (readonly HtmlPart[])[]): Html {
  const head = columns.map((column) => html`<th scope="col">${column}</th>`)
  const body = rows.map(([name, ...cells]) => {
    return html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td class="wrap">${cell}</td>`)}</tr>
`
  })
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table><thead><tr>${head}</tr></thead>
<tbody>${body}</tbody></table></div>`
}

/** A state in one or two words. */
export function stateTag(text: HtmlPart, isGood: boolean): Html {
  return html`<span class="tag${isGood ? " good" : " warn"}">${text}</span>`
}

/** A page that asks before a change that cannot be undone. */
export function confirmPage(
  visit: SettingsVisit,
  { title, body, notes = [], ...form }: FormOptions & ConfirmOptions,
  fields?: (state: FormState) => HtmlPart,
): Page {
  return {
    title,
    at: "/settings",
    body: html`<section class="card"><div class="inside"><p>${body}</p>
${notes.map((note) => html`<p class="quiet">${note}</p>`)}
${settingsForm(visit, { ...form, tone: "main" }, fields)}</div></section>
`,
  }
}

interface ShownOnce {
  secret: string
  label: string
  body: HtmlPart
  back: string
}

/** A page with a secret that is shown only once. */
export function secretPage(title: string, { secret, label, body, back }: ShownOnce): Page {
  return {
    title,
    at: "/settings",
    body: html`<section class="card"><div class="inside"><p><strong>Copy it now: it is not shown again.</strong></p>
<div class="stacked"><div class="field"><label for="secret">${label}</label>
<input id="secret" class="hash" readonly="" value="${secret}"></div>
<p>${body}</p><div class="send"><a class="button main" href="${back}">Done</a></div></div></div></section>
`,
  }
}

interface RadioField {
  name: string
  label: string
  options: readonly (readonly [value: string, text: HtmlPart])[]
  value: string
}

/** A choice of exactly one option. Each option is shown with its meaning. */
export function radioFields(form: FormState, { name, label, options, value }: RadioField): Html {
  const chosen = form.values?.get(name) ?? value
  return html`<fieldset class="field checks"><legend>${label}</legend>
${options.map(([option, text]) => {
  const checked = option === chosen && html` checked=""`
  return html`<label><input type="radio" name="${name}" value="${option}"${checked}> <span>${text}</span></label>`
})}</fieldset>
`
}

/** A field for a pasted secret, such as a key. It is empty after a refusal. */
export function secretField(form: FormState, field: { name: string; label: string; hint?: string }): Html {
  return areaField({ ...form, values: null }, { ...field, rows: 3 })
}
