import type { Right } from "../../../access/scopes.ts"
import { ownValue } from "../../../lib/objects.ts"
import { areaField, type FormState, fileField } from "../../fields.ts"
import { type Html, type HtmlPart, html } from "../../html.ts"
import type { PageContext } from "../context.ts"
import { empty } from "../parts.ts"

interface WriteForm {
  action: string
  /** The page to return to: shown after the change, or again if the form is refused. */
  back: string
  /** Fields that are not shown. */
  fixed?: Readonly<Record<string, string>>
  /** Names the action: "Add app". */
  button: string
  /** Needed if a page has several forms of the action. */
  id?: string
  /** "main" marks the one action that the page is for. */
  tone?: "main" | "quiet"
  /** A form with a file. */
  hasFile?: boolean
  /** Class of the form. */
  look?: string
}

/** The right that a form needs, by its action. Null needs none. Actions that are not listed need track:write. */
const RIGHTS: Readonly<Record<string, Right | null>> = {
  mark_seen: null,
  unmark_seen: null,
  reply_review: "reviews:write",
  create_share_link: "reports:write",
}

/** Shown in place of a form that would be refused. */
const NOT_ALLOWED = html`<p class="inside quiet">
You may look at this, but not change it. An owner of the workspace can give you the right.</p>`

/** Returns the note for a person without the right, as the content of a page. */
export function mayNotEdit(): Html {
  return empty("You may look at this, but not change it", "An owner of the workspace can give you the right.")
}

/** Returns whether the person has the right that a form with this action needs. */
function mayWrite({ person }: PageContext, action: string): boolean {
  const right = ownValue(RIGHTS, action) === undefined ? "track:write" : (RIGHTS[action] as Right | null)
  return right === null || person === null || person.scopes.includes(right)
}

/**
 * A form that changes something. `fields` receives the typed values if the form was refused. A person without the right
 * gets a sentence instead of the form, or nothing if the form is a single button. False if the visitor may change
 * nothing.
 */
export function writeForm(
  context: PageContext,
  form: WriteForm,
  fields: (state: FormState) => HtmlPart = () => "",
): Html | false {
  if (context.formFields.length === 0) return false
  const { action, back, fixed = {}, button, id = action, tone, hasFile, look = "filters" } = form
  if (!mayWrite(context, action)) return look !== "row" && NOT_ALLOWED
  const state = context.refused?.id === id ? context.refused : { id, values: null, errors: {} }
  return html`<form class="${look}" method="post" action="${context.base}/write"${
    hasFile && html` enctype="multipart/form-data"`
  }>${hiddenFields([
    ...context.formFields,
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

/** Fields for any number of keywords: typed, pasted or from a file. */
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
