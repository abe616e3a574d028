import { areaField, type FormState, fileField } from "../../fields.ts"
import { type Html, type HtmlPart, html } from "../../html.ts"
import type { Desk } from "../desk.ts"

interface WriteForm {
  action: string
  /** The page to return to: shown after the change, or again if the form is refused. */
  back: string
  /** Fields that are not shown. */
  fixed?: Readonly<Record<string, string>>
  /** Names the deed: "Add app". */
  button: string
  /** Needed if a page has several forms of the action. */
  id?: string
  /** "main" is the one deed that a page is for. */
  tone?: "main" | "quiet"
  /** A form with a file. */
  hasFile?: boolean
  /** Class of the form. */
  look?: string
}

/**
 * A form that changes something. `fields` gets what was typed if the form was refused. False if the visitor may change
 * nothing.
 */
export function writeForm(
  desk: Desk,
  form: WriteForm,
  fields: (state: FormState) => HtmlPart = () => "",
): Html | false {
  if (desk.formFields.length === 0) return false
  const { action, back, fixed = {}, button, id = action, tone, hasFile, look = "filters" } = form
  const state = desk.refused?.id === id ? desk.refused : { id, values: null, errors: {} }
  return html`<form class="${look}" method="post" action="${desk.base}/write"${
    hasFile && html` enctype="multipart/form-data"`
  }>${hiddenFields([
    ...desk.formFields,
    ["action", action],
    ["form-id", id],
    ["back", back],
    ...Object.entries(fixed),
  ])}${fields(
    state,
  )}<div class="send"><button${tone && html` class="${tone}"`} type="submit">${button}</button></div></form>
`
}

export function hiddenFields(fields: readonly (readonly [name: string, value: string])[]): Html[] {
  return fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
}

/** Any number of keywords: typed, pasted or from a file. */
export function keywordFields(form: FormState): Html {
  return html`${areaField(form, {
    name: "keywords",
    label: "Keywords",
    hint: "One per line, or separated by commas. Paste as many as you like.",
    isWide: true,
  })}${fileField(form, {
    name: "file",
    label: "Or a file",
    accept: ".csv,.tsv,.txt,text/csv,text/plain",
    hint: "CSV of App Store Connect or another tool, or one keyword per line.",
  })}`
}
