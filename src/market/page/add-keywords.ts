import { appAddress, hereOf, type PageContext, readHead } from "../../ui/app/context.ts"
import { writeForm } from "../../ui/app/write/form.ts"
import { selectField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"

/**
 * Renders a form around a table whose ticked keywords are added to an app. With one app they are added at once, with an
 * offer to undo it; with several apps, the person chooses one and sees a preview. Returns the plain table if nothing
 * can be added.
 */
export async function addKeywordsForm(context: PageContext, table: Html): Promise<Html> {
  if (context.editFields.length === 0) return table
  const { apps } = await context.ask("list_app_heads")
  const [first, ...more] = apps
  if (!first)
    return html`${table}<p class="inside quiet">
<a href="${context.base}/add">Add your app</a> first to track keywords.</p>`
  const form = { action: "add_keywords", back: hereOf(context), button: "Add selected keywords", look: "adds" }
  if (more.length === 0) {
    const { id, version } = await readHead(context, first.id)
    const back = appAddress(context, { id })
    return writeForm(context, { ...form, back, fixed: { appId: id, seen: version } }, () => table) || table
  }
  const options = apps.map(({ id, name }) => [id, name] as const)
  const fields = (state: Parameters<typeof selectField>[0]) => html`${table}
<div class="filters">${selectField(state, { name: "appId", label: "Add to", options })}</div>`
  return writeForm(context, form, fields) || table
}

/** Renders a keyword that can be ticked, with a link to its page. */
export function tickedTerm(context: PageContext, term: string, name: Html | string): Html {
  if (context.editFields.length === 0) return html`${name}`
  return html`<input type="checkbox" name="terms" value="${term}" aria-label="Select ${term}"> ${name}`
}
