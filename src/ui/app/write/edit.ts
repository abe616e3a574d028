import { storefrontName } from "../../../lib/storefront-names.ts"
import { checkFields, selectField, textField, usernameField } from "../../fields.ts"
import { type Html, html } from "../../html.ts"
import { type AppHead, type Desk, hereOf, type Page, readHead, sideAt } from "../desk.ts"
import { card, empty } from "../parts.ts"
import { mayNotEdit, writeForm } from "./form.ts"

/** The settings of an app: name, goal, storefronts, a page to share, and its removal. */
export async function editPage(desk: Desk, appId: string): Promise<Page> {
  const app = await readHead(desk, appId)
  return {
    title: `App settings · ${app.name}`,
    app,
    at: "edit",
    body:
      desk.editFields.length === 0
        ? html`<section class="card">${desk.isSample ? OF_SAMPLE : mayNotEdit()}</section>`
        : html`<h2 class="above">App settings</h2>
<div class="columns-2">
${nameCard(desk, app)}${goalCard(desk, app)}${storefrontsCard(desk, app)}${shareCard(desk, app)}${removeCard(
  desk,
  app,
)}</div>`,
  }
}

const OF_SAMPLE = empty(
  "The sample cannot be changed",
  "Here you rename your own app, choose its storefronts and goal, share its page, or remove it.",
)

function nameCard(desk: Desk, app: AppHead): Html {
  const options = { action: "rename_app", back: hereOf(desk), fixed: fixedOf(app), button: "Rename app" }
  return card(
    "Name",
    writeForm(desk, options, (form) =>
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

function goalCard(desk: Desk, app: AppHead): Html {
  const options = { action: "set_app_goal", back: hereOf(desk), fixed: fixedOf(app), button: "Set goal" }
  return card(
    "Goal",
    writeForm(desk, options, (form) =>
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

function storefrontsCard(desk: Desk, app: AppHead): Html {
  const names = app.countries.map((code) => [code, storefrontName(code)] as const)
  const options = { action: "set_storefronts", back: hereOf(desk), fixed: fixedOf(app), button: "Preview" }
  return card(
    "Storefronts",
    writeForm(
      desk,
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

function shareCard(desk: Desk, app: AppHead): Html {
  const { country } = sideAt(app, desk.query)
  const options = app.countries.map((code) => [code, storefrontName(code)] as const)
  return card(
    "Share a page",
    writeForm(
      desk,
      { action: "create_share_link", back: hereOf(desk), fixed: { appId: app.id }, button: "Preview" },
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

function removeCard(desk: Desk, app: AppHead): Html {
  const options = { action: "remove_app", back: hereOf(desk), fixed: { appId: app.id }, button: "Remove app" }
  return card(
    "Remove the app",
    html`<div class="inside">
<p>Stops tracking the app and its keywords. Measured ranks are kept. You see a preview first.</p></div>${writeForm(
      desk,
      options,
    )}`,
  )
}

const fixedOf = (app: AppHead) => ({ appId: app.id, seen: app.version })
