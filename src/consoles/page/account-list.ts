import { card, empty } from "../../ui/app/parts.ts"
import {
  listItem,
  namedTable,
  type SettingsVisit,
  sectionAddress,
  settingsForm,
  stateTag,
} from "../../ui/app/settings.ts"
import { selectField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { counted } from "../../ui/words.ts"
import { ACCOUNT_KINDS, accountKind, takesWrites } from "../account-kinds.ts"
import type { AccountRow } from "../register.ts"
import { troubleLines } from "../trouble-lines.ts"
import { sentenceCase } from "./account-keys.ts"

const PATH = "accounts"

const STATES: Record<AccountRow["state"], string> = {
  connecting: "connecting",
  ok: "connected",
  limited: "some rights are missing",
  agreement_required: "an agreement is needed",
  revoked: "key refused",
  paused: "paused",
  removed: "disconnected",
  demo: "sample data",
}

/** Returns the accounts with their rights and apps, and the types that can be connected. */
export async function accountList(visit: SettingsVisit, accounts: readonly AccountRow[]): Promise<Html> {
  const { apps } = await visit.context.ask("list_app_heads")
  const kinds = ACCOUNT_KINDS.map(({ name, title, summary }) =>
    listItem(html`<a href="${sectionAddress(PATH, { add: name })}"><strong>${title}</strong></a>`, summary),
  )
  const none = card("Connected accounts", empty("No accounts yet", NONE_YET))
  return html`${accounts.length === 0 ? none : accounts.map((account) => accountCard(visit, account, apps))}
${card("Connect an account", html`<ul class="list">${kinds}</ul>`)}`
}

const NONE_YET = "Sales, ads and subscriptions are shown once you connect the account that has them."

interface TrackedName {
  id: string
  name: string
}

function accountCard(visit: SettingsVisit, account: AccountRow, tracked: readonly TrackedName[]): Html {
  const { id, kind: name, shown, part, state, why, rights, failure, lastFailure, lastOk, writes } = account
  const { title, part: partOption, receive, begins } = accountKind(name)
  const isUnread = state === "ok" && lastOk === null && !receive
  const address = `${visit.publicUrl}/in/${id}`
  const about = [
    html`${shown}, ${partOption.name} <bdi>${part}</bdi>`,
    lastOk && html` · last read ${momentTime(lastOk.toISOString())}`,
    writes && " · writes are on",
  ]
  const lines = [
    why && html`<p><bdi>${why}</bdi></p>`,
    isUnread && html`<p>A running server now reads ${begins}.</p>`,
    receive &&
      state !== "removed" &&
      html`<p>It sends messages to <code>${address}</code>. Enter this address there.</p>`,
    troublesPart(account),
    failure !== null &&
      lastFailure !== null &&
      html`<p class="small quiet">Last error, ${momentTime(lastFailure.toISOString())}: <bdi>${failure}</bdi></p>`,
  ]
  return card(
    html`${title} ${stateTag(STATES[state], state === "ok" || state === "connecting")}`,
    html`<div class="inside"><p class="small quiet">${about}</p>
${lines}</div>
${rights.length > 0 && rightsTable(rights)}${appsPart(visit, account, tracked)}${actions(visit, account)}`,
  )
}

function troublesPart({ troubles }: AccountRow): Html | false {
  const lines = troubleLines(troubles).map((line) => html`<li><bdi>${sentenceCase(line)}</bdi></li>`)
  if (lines.length === 0) return false
  const count = counted(lines.length, "problem")
  return html`<details open=""><summary>${count}</summary><ul class="small">${lines}</ul></details>`
}

function rightsTable(rights: AccountRow["rights"]): Html {
  const words = { ok: "allowed", denied: "denied", unknown: "not known" }
  const rows = rights.map(({ name, state, why }) => [
    sentenceCase(name.replaceAll("_", " ")),
    stateTag(words[state], state === "ok"),
    html`<bdi>${why ?? ""}</bdi>`,
  ])
  return namedTable("Rights", ["Right", "State", "What is missing"], rows)
}

/** Maximum number of apps shown: a large seller has hundreds. */
const MAX_APPS = 50

function appsPart(visit: SettingsVisit, account: AccountRow, tracked: readonly TrackedName[]): Html | false {
  const { id, apps, state } = account
  if (apps.length === 0) return false
  const names = new Map(tracked.map((app) => [app.id, app.name]))
  const canMap = state !== "demo" && state !== "removed" && tracked.length > 0
  const rows = apps.slice(0, MAX_APPS).map(({ outsideId, name, appId }) => {
    const as =
      appId === null ? html`<span class="quiet">not tracked</span>` : html`<bdi>${names.get(appId) ?? appId}</bdi>`
    const map = canMap && mapForm(visit, { id, outsideId, appId }, tracked)
    return html`<li><p><bdi>${name}</bdi> <span class="hash quiet">${outsideId}</span> · ${as}</p>${map}</li>`
  })
  const more = apps.length > MAX_APPS && html`<li class="quiet">And ${apps.length - MAX_APPS} more.</li>`
  return html`<details><summary>${counted(apps.length, "app")}</summary><ul class="list">${rows}${more}</ul></details>`
}

interface Mapping {
  id: string
  outsideId: string
  appId: string | null
}

function mapForm(visit: SettingsVisit, { id, outsideId, appId }: Mapping, tracked: readonly TrackedName[]): Html {
  const options = [["", "Not tracked"] as const, ...tracked.map((app) => [app.id, app.name] as const)]
  const form = { form: "map", of: id, fixed: { outsideId }, button: "Map", tone: "quiet" } as const
  return html`<details><summary>Map to another app</summary>${settingsForm(visit, form, (state) =>
    selectField(
      { ...state, id: `map-${id}-${outsideId}` },
      { name: "appId", label: "Tracked app", value: appId ?? "", options },
    ),
  )}</details>`
}

function actions(visit: SettingsVisit, { id, kind: name, state, writes }: AccountRow): Html | false {
  if (state === "demo") return false
  const quiet = { of: id, tone: "quiet" } as const
  const remove = (button: string) => settingsForm(visit, { ...quiet, form: "remove", button })
  if (state === "removed") return html`<div class="inside buttons">${remove("Delete its data…")}</div>`
  const kind = accountKind(name)
  const change = (what: string) => sectionAddress(PATH, { account: id, change: what })
  return html`<div class="inside buttons">${settingsForm(visit, { ...quiet, form: "test", button: "Test" })}${
    state === "paused"
      ? settingsForm(visit, { ...quiet, form: "resume", button: "Resume" })
      : settingsForm(visit, { ...quiet, form: "pause", button: "Pause" })
  }${kind.secret && html`<a class="button" href="${change("rotate")}">Replace key</a>`}${
    takesWrites(name) &&
    html`<a class="button" href="${change("writes")}">${writes ? "Change writes" : "Allow writes"}</a>`
  }${kind.needsAsking && html`<a class="button" href="${change("analytics")}">Request analytics reports</a>`}
${remove("Disconnect…")}</div>`
}
