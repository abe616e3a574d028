import { storefrontName } from "../../../lib/storefront-names.ts"
import { checkFields, selectField, textField, usernameField } from "../../fields.ts"
import { type Html, html } from "../../html.ts"
import { type AppHead, hereOf, type Page, type PageContext, readHead, sideAt } from "../context.ts"
import { card, empty } from "../parts.ts"
import { mayNotEdit, writeForm } from "./form.ts"

/** The settings of an app: name, goal, storefronts, a page to share, and its removal. */
export async function editPage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  return {
    title: `App settings · ${app.name}`,
    app,
    at: "edit",
    body:
      context.editFields.length === 0
        ? html`<section class="card">${context.isSample ? OF_SAMPLE : mayNotEdit()}</section>`
        : html`<h2 class="above">App settings</h2>
<div class="columns-2">
${nameCard(context, app)}${goalCard(context, app)}${storefrontsCard(context, app)}${shareCard(
  context,
  app,
)}${removeCard(context, app)}</div>`,
  }
}

const OF_SAMPLE = empty(
  "The sample cannot be changed",
  "Here you rename your own app, choose its storefronts and goal, share its page, or remove it.",
)

function nameCard(context: PageContext, app: AppHead): Html {
  const options = { action: "rename_app", back: hereOf(context), fixed: fixedOf(app), button: "Rename app" }
  return card(
    "Name",
    writeForm(context, options, (form) =>
      textField(form, {
        name: "name",
        label: "Name in this workspace",
        hint: "Leave it empty to use the store's name.",
        value: app.name,
        maxLength: 100,
        isWide: true,
      }),
    ),
  )
}

const GOALS = [
  ["", "No goal"],
  ["downloads", "More downloads"],
  ["rank", "Better ranks"],
  ["revenue", "More revenue"],
] as const

function goalCard(context: PageContext, app: AppHead): Html {
  const options = { action: "set_app_goal", back: hereOf(context), fixed: fixedOf(app), button: "Set goal" }
  return card(
    "Goal",
    writeForm(context, options, (form) =>
      selectField(form, {
        name: "goal",
        label: "The weekly plan works towards",
        value: app.goal ?? "",
        options: GOALS,
        isWide: true,
      }),
    ),
  )
}

function storefrontsCard(context: PageContext, app: AppHead): Html {
  const names = app.countries.map((code) => [code, storefrontName(code)] as const)
  const options = { action: "set_storefronts", back: hereOf(context), fixed: fixedOf(app), button: "Preview" }
  return card(
    "Storefronts",
    writeForm(
      context,
      options,
      (form) => html`${checkFields(form, {
        name: "countries",
        label: "Tracked",
        hint: "Remove the tick of a storefront to stop tracking the app there.",
        options: names,
        chosen: app.countries,
      })}
${textField(form, { name: "more", label: "Add storefronts", placeholder: "Germany, jp", isWide: true })}
${selectField(form, {
  name: "like",
  label: "With the keywords of",
  value: app.countries[0] ?? "",
  options: [...names, ["", "No keywords"]],
})}`,
    ),
  )
}

function shareCard(context: PageContext, app: AppHead): Html {
  const { country } = sideAt(app, context.query)
  const options = app.countries.map((code) => [code, storefrontName(code)] as const)
  return card(
    "Share a page",
    writeForm(
      context,
      { action: "create_share_link", back: hereOf(context), fixed: { appId: app.id }, button: "Preview" },
      (form) => html`${usernameField("Shared page")}${selectField(form, {
        name: "country",
        label: "Storefront",
        value: country,
        options,
      })}
${textField(form, { name: "days", label: "Days it is valid", type: "number", min: 1, max: 30, value: "7" })}
${textField(form, {
  name: "password",
  label: "Password (optional)",
  type: "password",
  autocomplete: "new-password",
  isWide: true,
})}`,
    ),
    "Ranks, charts and store page of one storefront",
  )
}

function removeCard(context: PageContext, app: AppHead): Html {
  const options = { action: "remove_app", back: hereOf(context), fixed: { appId: app.id }, button: "Remove app" }
  return card(
    "Remove the app",
    html`<div class="inside">
<p>Stops tracking the app and its keywords. Measured ranks are kept. You see a preview first.</p></div>${writeForm(
      context,
      options,
    )}`,
  )
}

const fixedOf = (app: AppHead) => ({ appId: app.id, seen: app.version })
