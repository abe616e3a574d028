import { type Html, html } from "../../html.ts"
import { appAddress, type Desk, type Page, readHead, sideAt } from "../desk.ts"
import { card, empty } from "../parts.ts"
import { writeForm } from "./form.ts"

/** Edits what is tracked of an app. Each form leads to a preview first. */
export async function editPage(desk: Desk, appId: string): Promise<Page> {
  const app = await readHead(desk, appId)
  const { country } = sideAt(app, desk.query)
  const back = appAddress(desk, app, "edit")
  const fixed = { appId: app.id }
  const keywords = area("keywords", "One a line")
  const rivals = area("rivals", "A store link or id, one a line")
  return {
    title: `Edit · ${app.name}`,
    app,
    at: "edit",
    body: desk.isSample
      ? html`<section class="card">${empty("A sample cannot be changed", "Here you add and take away keywords and rivals of your own app, and share its page.")}</section>`
      : html`<p class="quiet">Each of these shows first what it would change.</p><div class="columns-2">
${card("Add keywords", writeForm(desk, { action: "add_keywords", back: appAddress(desk, app), fixed, button: "Look at it first" }, keywords))}
${card("Take keywords away", writeForm(desk, { action: "remove_keywords", back: appAddress(desk, app), fixed, button: "Look at it first" }, keywords), "What was measured stays")}
${card("Name rivals", writeForm(desk, { action: "add_rivals", back: appAddress(desk, app, "rivals"), fixed, button: "Look at it first" }, rivals))}
${card("Hide rivals", writeForm(desk, { action: "remove_rivals", back: appAddress(desk, app, "rivals"), fixed, button: "Look at it first" }, rivals))}
${card("Share a page", writeForm(desk, { action: "create_share_link", back, fixed, button: "Look at it first" }, shareFields(app.countries, country)), "Ranks, charts and store page of one storefront")}</div>`,
  }
}

function area(name: string, label: string): Html {
  return html`<label class="grow">${label}<textarea name="${name}" rows="4" required=""></textarea></label>`
}

function shareFields(countries: readonly string[], chosen: string): Html {
  return html`<label>Storefront<select name="country">${countries.map((country) => html`<option value="${country}"${country === chosen && html` selected=""`}>${country.toUpperCase()}</option>`)}</select></label>
<label>Days<input type="number" name="days" min="1" max="30" value="7"></label>
<label class="grow">Password, if it is to have one<input type="password" name="password" autocomplete="new-password"></label>`
}

/** Adds an app by its link or id, with storefronts and keywords. */
export async function addPage(desk: Desk): Promise<Page> {
  return { title: "Add an app", at: "", body: html`<section class="card">${addForm(desk)}</section>` }
}

export function addForm(desk: Desk): Html | false {
  return writeForm(
    desk,
    { action: "add_app", back: `${desk.base}/add`, button: "Look at it first" },
    html`<label class="grow">Link or id in the App Store or on Google Play<input name="app" required="" placeholder="https://apps.apple.com/us/app/id…"></label>
<label>Storefronts<input name="countries" placeholder="that of the link, or us"></label>
<label class="grow">Keywords, one a line<textarea name="keywords" rows="4"></textarea></label>`,
  )
}
