import type { Sql } from "../../database/types.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import { card, empty } from "../../ui/app/parts.ts"
import {
  confirmPage,
  type FormOutcome,
  formCard,
  listItem,
  type SettingsSection,
  type SettingsVisit,
  secretPage,
  sectionAddress,
  settingsForm,
} from "../../ui/app/settings.ts"
import { FormProblem, type FormState, selectField, textField, usernameField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { counted, STORES } from "../../ui/words.ts"
import { datasetOf, DATASETS as FEED_DATASETS } from "../feed/datasets.ts"
import { requestFeed } from "../feed/request.ts"
import { contentOf, hashesFrom, type Link, readLinks } from "../link-handles.ts"
import { withdrawLink } from "../open-links.ts"

const PATH = "sharing"
const back = sectionAddress(PATH)

/** Shared pages, exports and feeds: what `appmeter link`, `appmeter feed`, create_share_link and export_data do. */
export function sharingSection(sql: Sql): SettingsSection {
  const readAll = (workspaceId: number) => readLinks(sql, { workspaceId, ...hashesFrom("") })
  const find = async ({ workspaceId }: SettingsVisit, fields: URLSearchParams): Promise<Link> => {
    const link = (await readAll(workspaceId)).find(({ handle }) => handle === fields.get("id"))
    if (link) return link
    throw new FormProblem({ "": "This link is not open any more: it was withdrawn or has expired." })
  }
  return {
    name: "Sharing",
    about: "See who can open what, create links and withdraw them.",
    path: PATH,
    needs: "reports:write",
    notices: { withdrawn: "The link is withdrawn. Nobody can open it any more." },
    async show(visit) {
      const links = await readAll(visit.workspaceId)
      const { apps } = await visit.context.ask("list_app_heads")
      return html`${
        links.length === 0
          ? card(
              "Open links",
              empty("No open links", "Shared pages, exports and feeds are listed here as long as they work."),
            )
          : card(
              "Open links",
              html`<ul class="list">${links.map((link) => linkItem(visit, link))}</ul>`,
              counted(links.length, "link"),
            )
      }${apps.length > 0 && html`<div class="columns-2">${cards(visit, apps)}</div>`}`
    },
    forms: {
      share: {
        audit: null,
        async send(visit, fields) {
          const password = fields.get("password") ?? ""
          const args = {
            appId: fields.get("appId") ?? "",
            country: fields.get("country") ?? "",
            days: Number(fields.get("days")),
            ...(password !== "" && { password }),
          }
          return await preview(visit, "create_share_link", args)
        },
      },
      export: {
        audit: null,
        async send(visit, fields) {
          const names = ["appId", "dataset", "country", "platform", "format", "from", "to"]
          const given = names.map((name) => [name, fields.get(name) ?? ""]).filter(([, value]) => value !== "")
          return await preview(visit, "export_data", Object.fromEntries(given))
        },
      },
      feed: {
        audit: "feed create",
        async send(visit, fields) {
          const { apps } = await visit.context.ask("list_app_heads")
          const app = apps.find(({ id }) => id === fields.get("appId"))
          if (!app) throw new FormProblem({ appId: "Choose an app of the list." })
          const [dataset = "", format = ""] = (fields.get("content") ?? "").split(" ")
          if (dataset === "reviews" && !visit.person.scopes.includes("reviews:read"))
            throw new FormProblem({ content: "You may not read reviews in this workspace." })
          const text = (name: string) => fields.get(name)?.trim() ?? ""
          const request = {
            dataset,
            format,
            platform: text("platform"),
            country: text("country"),
            columns: format === "csv" ? text("columns") : "",
          }
          const { workspaceId, publicUrl } = visit
          const by = { workspaceId, publicUrl, keyId: visit.person.keyId }
          const { url } = await requestFeed(sql, app, by, request)
          const body = "Anyone with this address can read the feed until you withdraw it. It is shown only now."
          return { page: secretPage("Feed created", { secret: url, label: "Address", body, back }) }
        },
      },
      confirm: {
        audit: null,
        async send({ context }, fields) {
          const { result } = await context.ask("confirm_action", { confirmToken: fields.get("confirmToken") ?? "" })
          const { url, expiresAt } = result ?? {}
          if (url === undefined || expiresAt === undefined) return { to: back }
          const body = html`Anyone with this link can open it until ${momentTime(expiresAt)}.`
          return { page: secretPage("Link created", { secret: url, label: "Link", body, back }) }
        },
      },
      withdraw: {
        audit: null,
        async send(visit, fields) {
          const link = await find(visit, fields)
          const page = confirmPage(visit, {
            title: "Withdraw this link?",
            body: html`Nobody can open ${contentOf(link)} of <bdi>${link.appName ?? link.appId}</bdi> any more.`,
            notes: [
              link.kind === "feed"
                ? "This cannot be undone: a new feed gets a new address."
                : "The data behind it is deleted. This cannot be undone.",
            ],
            form: "withdrawn",
            of: link.handle,
            button: "Withdraw link",
            cancel: back,
          })
          return { page }
        },
      },
      withdrawn: {
        audit: "link withdraw",
        async send(visit, fields) {
          await withdrawLink(sql, await find(visit, fields))
          return { to: back, done: "withdrawn" }
        },
      },
    },
  }
}

/**
 * Shows what becomes public before the link is created, because it cannot be taken back from people who have opened the
 * link.
 */
async function preview(visit: SettingsVisit, action: string, args: object): Promise<FormOutcome> {
  const { preview: shown, confirmToken, approval } = await visit.context.ask("preview_action", { action, args })
  const waiting = html`Approve it on <a href="/app/changes" target="_blank">Changes</a>, then confirm here.`
  const page = confirmPage(visit, {
    title: "Create this link?",
    body: html`<strong>${shown.summary}</strong>`,
    notes: [...shown.notes, ...(approval ? [waiting] : [])],
    form: "confirm",
    fixed: { confirmToken },
    button: "Create link",
    cancel: back,
  })
  return { page }
}

function linkItem(visit: SettingsVisit, link: Link): Html {
  const { handle, kind, appId, appName, createdAt, expiresAt } = link
  const withdraw = settingsForm(visit, { form: "withdraw", of: handle, button: "Withdraw…", tone: "quiet" })
  const tag = html`<span class="tag">${KIND_NAMES[kind]}</span>`
  const created = momentTime(createdAt.toISOString())
  const end = expiresAt === null ? "until withdrawn" : html`expires ${momentTime(expiresAt.toISOString())}`
  return listItem(
    html`<strong><bdi>${appName ?? appId}</bdi></strong> ${tag} ${contentOf(link)}`,
    html`<span class="hash">${handle}</span> · created ${created} · ${end}`,
    withdraw,
  )
}

const KIND_NAMES = { share: "shared page", export: "export", feed: "feed" } as const

interface ListedApp {
  id: string
  name: string
  countries: string[]
}

function appAndStorefront(form: FormState, apps: readonly ListedApp[]): Html {
  const countries = [...new Set(apps.flatMap((app) => app.countries))].sort()
  const storefronts = countries.map((code) => [code, storefrontName(code)] as const)
  const names = apps.map(({ id, name }) => [id, name] as const)
  return html`${selectField(form, { name: "appId", label: "App", options: names })}
${selectField(form, { name: "country", label: "Storefront", options: storefronts })}`
}

function cards(visit: SettingsVisit, apps: readonly ListedApp[]): Html[] {
  return [shareCard(visit, apps), exportCard(visit, apps), feedCard(visit, apps)]
}

function shareCard(visit: SettingsVisit, apps: readonly ListedApp[]): Html {
  const form = settingsForm(
    visit,
    { form: "share", button: "Preview" },
    (state) => html`${usernameField("Shared page")}${appAndStorefront(state, apps)}
${textField(state, DAYS)}
${textField(state, PASSWORD)}`,
  )
  return formCard("Share a page", html`<p>Ranks, charts and store page of one storefront, as they are now.</p>`, form)
}

const DAYS = {
  name: "days",
  label: "Days",
  type: "number",
  min: 1,
  max: 30,
  value: "7",
  hint: "Number of days until the link expires.",
} as const
const PASSWORD = {
  name: "password",
  label: "Password",
  type: "password",
  autocomplete: "new-password",
  hint: "Optional. Readers are asked for it.",
} as const

const DATASETS = [
  ["keywords", "Keywords with their latest ranks"],
  ["history", "Rank history"],
  ["reviews", "Reviews"],
] as const

function exportCard(visit: SettingsVisit, apps: readonly ListedApp[]): Html {
  const stores = Object.entries(STORES)
  const form = settingsForm(
    visit,
    { form: "export", button: "Preview" },
    (state) => html`${appAndStorefront(state, apps)}
${selectField(state, { name: "platform", label: "Store", options: stores })}
${selectField(state, { name: "dataset", label: "Content", options: DATASETS })}
${selectField(state, {
  name: "format",
  label: "Format",
  options: [
    ["csv", "CSV, for spreadsheets"],
    ["json", "JSON"],
  ],
})}
${textField(state, { name: "from", label: "From", type: "date", hint: "Optional, for history and reviews." })}
${textField(state, { name: "to", label: "To", type: "date", hint: "Optional." })}`,
  )
  return formCard("Export a file", html`<p>A link to a file of data as it is now. It expires after 7 days.</p>`, form)
}

/** The contents that a feed can have, such as "reviews csv". */
const FEED_CONTENTS = FEED_DATASETS.flatMap((dataset) => {
  const { title, formats } = datasetOf(dataset)
  return formats.map(
    (format) =>
      [`${dataset} ${format}`, `${title}, ${format === "atom" ? "for feed readers" : "for spreadsheets"}`] as const,
  )
})

const COLUMNS = {
  name: "columns",
  label: "Columns",
  maxLength: 300,
  hint: `For spreadsheets, separated by commas. Empty: all. ${FEED_DATASETS.map(
    (dataset) => `${datasetOf(dataset).title}: ${datasetOf(dataset).columns.join(", ")}`,
  ).join(". ")}.`,
}

function feedCard(visit: SettingsVisit, apps: readonly ListedApp[]): Html {
  const form = settingsForm(
    visit,
    { form: "feed", button: "Create feed" },
    (state) => html`${appAndStorefront(state, apps)}
${selectField(state, { name: "platform", label: "Store", options: Object.entries(STORES) })}
${selectField(state, { name: "content", label: "Content", options: FEED_CONTENTS })}
${textField(state, COLUMNS)}`,
  )
  const about = html`<p>An address that stays current: Atom for feed readers, CSV for IMPORTDATA in spreadsheets. It
shows the newest 100 alerts or reviews, or the latest ranks, and never money.</p>`
  return formCard("Create a feed", about, form)
}
