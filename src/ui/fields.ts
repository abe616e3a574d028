import { type Html, type HtmlPart, html } from "./html.ts"

/** The state of a form: empty at first, or as it was sent if it was refused. */
export interface FormState {
  /** Unique on the page. Prefix of the ids of its fields. */
  id: string
  /** Null unless the form was refused. */
  values: URLSearchParams | null
  /** Messages by field. */
  errors: Readonly<Record<string, string>>
}

/** Thrown if fields of a sent form are invalid. `errors` has a message for each, in the words of the form. */
export class FormProblem extends Error {
  override name = "FormProblem"
  readonly errors: Readonly<Record<string, string>>
  constructor(errors: Readonly<Record<string, string>>) {
    super(Object.values(errors).join(" "))
    this.errors = errors
  }
}

interface Field {
  name: string
  label: string
  /** Help below the field. */
  hint?: string
  /** The value before anything was typed. */
  value?: string
  isRequired?: boolean
  /** Takes the width that other fields of the row leave. */
  isWide?: boolean
}

interface TextField extends Field {
  type?: "text" | "password" | "number" | "search" | "email" | "url" | "date"
  placeholder?: string
  autocomplete?: string
  min?: number
  max?: number
  maxLength?: number
  /** Id of a datalist with suggestions. */
  list?: string
}

/** A field of one line. A refused password is not shown again. */
export function textField(form: FormState, field: TextField): Html {
  const { name, type = "text", value = "", placeholder, autocomplete, min, max, maxLength, list, isRequired } = field
  const typed = type === "password" ? null : form.values?.get(name)
  const control = html`<input type="${type}" name="${name}" value="${typed ?? value}"${attributes(form, field)}${
    isRequired && html` required=""`
  }${attribute("placeholder", placeholder)}${attribute(
    "autocomplete",
    autocomplete,
  )}${attribute("min", min)}${attribute("max", max)}${attribute("maxlength", maxLength)}${attribute("list", list)}>`
  return fieldPart(form, field, control)
}

export const USERNAME_FIELD = "username"

/** A field with the person's name for the browser's password manager, in a form that asks for the passphrase only. */
export function usernameField(person: string): Html {
  return html`<input name="${USERNAME_FIELD}" value="${person}" autocomplete="username" hidden="" readonly="">`
}

/** A field of several lines. */
export function areaField(form: FormState, field: Field & { rows?: number; placeholder?: string }): Html {
  const { name, value = "", rows = 4, placeholder, isRequired } = field
  // HTML parsers drop a line break right after the tag; this extra one preserves a line break at the start of the text
  const control = html`<textarea name="${name}" rows="${rows}"${attributes(form, field)}${
    isRequired && html` required=""`
  }${attribute("placeholder", placeholder)}>\n${form.values?.get(name) ?? value}</textarea>`
  return fieldPart(form, field, control)
}

/** A choice of one option. Each has a value and a text. */
export function selectField(
  form: FormState,
  field: Field & { options: readonly (readonly [value: string, text: string])[] },
): Html {
  const chosen = form.values?.get(field.name) ?? field.value
  const control = html`<select name="${field.name}"${attributes(form, field)}>${field.options.map(
    ([value, text]) => html`<option value="${value}"${value === chosen && html` selected=""`}>${text}</option>`,
  )}</select>`
  return fieldPart(form, field, control)
}

/** A field for a file. Browsers do not restore the file after a refusal, so the person must choose it again. */
export function fileField(form: FormState, field: Field & { accept: string }): Html {
  const { name, accept } = field
  return fieldPart(form, field, html`<input type="file" name="${name}" accept="${accept}"${attributes(form, field)}>`)
}

/** A choice of any number of options. Each has a value and a text. The options in `chosen` are ticked at first. */
export function checkFields(
  form: FormState,
  {
    name,
    label,
    hint,
    options,
    chosen = [],
  }: {
    name: string
    label: string
    hint?: string
    options: readonly (readonly [value: string, text: HtmlPart])[]
    chosen?: readonly string[]
  },
): Html {
  const ticked = new Set(form.values?.getAll(name) ?? chosen)
  const error = form.errors[name]
  return html`<fieldset class="field checks"${
    error !== undefined && html` aria-describedby="${idOf(form, name)}-error"`
  }><legend>${label}</legend>
${options.map(
  ([value, text], at) =>
    html`<label><input type="checkbox" name="${name}" value="${value}"${ticked.has(value) && html` checked=""`}${
      at === 0 && focus(form, name)
    }> <span>${text}</span></label>`,
)}${notes(form, { name, label, ...(hint !== undefined && { hint }) })}</fieldset>`
}

function fieldPart(form: FormState, field: Field, control: Html): Html {
  const { name, label, isWide } = field
  return html`<div class="field${isWide && " grow"}"><label for="${idOf(form, name)}">${label}</label>${control}${notes(
    form,
    field,
  )}</div>`
}

function notes(form: FormState, { name, hint }: Field): HtmlPart {
  const error = form.errors[name]
  return html`${hint && html`<p class="hint" id="${idOf(form, name)}-hint">${hint}</p>`}${
    error !== undefined && html`<p class="wrong" id="${idOf(form, name)}-error">${error}</p>`
  }`
}

/** Links a field with its hint and error. The first field with an error gets the focus. */
function attributes(form: FormState, { name, hint }: Field): Html {
  const id = idOf(form, name)
  const isWrong = form.errors[name] !== undefined
  const described = [isWrong && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(" ")
  return html` id="${id}"${attribute("aria-describedby", described || undefined)}${
    isWrong && html` aria-invalid="true"`
  }${focus(form, name)}`
}

function focus({ errors }: FormState, name: string): Html | false {
  return Object.keys(errors)[0] === name && html` autofocus=""`
}

const attribute = (name: string, value: string | number | undefined) => value !== undefined && html` ${name}="${value}"`

const idOf = ({ id }: FormState, name: string) => `${id}-${name}`
