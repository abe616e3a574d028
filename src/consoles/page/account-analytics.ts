import { card, empty } from "../../ui/app/parts.ts"
import { formCard, type SettingsVisit, sectionAddress, settingsForm } from "../../ui/app/settings.ts"
import { FormProblem, selectField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import type { AnyAccountKind } from "../account-kind.ts"
import type { AccountRow, Register } from "../register.ts"
import { createAnalyticsRequest } from "../seller/request-analytics.ts"
import { fileName, keyFields, keyIn } from "./account-keys.ts"

/** Returns the form that asks the console to make analytics reports of an app, which only a person may do. */
export function analyticsPart(visit: SettingsVisit, { id, apps }: AccountRow, kind: AnyAccountKind): Html {
  const tracked = apps.filter(({ appId }) => appId !== null)
  if (tracked.length === 0) return card(TITLE, empty("The account has no tracked app", "Map or add an app first."))
  const options = tracked.map(({ outsideId, name }) => [outsideId, name] as const)
  const cancel = sectionAddress("accounts")
  const form = settingsForm(
    visit,
    { form: "analytics", of: id, button: "Request reports", tone: "main", hasFile: true, cancel },
    (state) => html`${selectField(state, { name: "app", label: "App", options })}
<details${state.values && html` open=""`}><summary>Use an Admin key for this request</summary>
${keyFields(state, kind, "fresh")}</details>`,
  )
  return formCard(TITLE, html`<p>${ABOUT}</p>`, form)
}

const TITLE = "Request analytics reports"
const ABOUT =
  "The console makes reports of impressions and page views only after a person with the role Admin has requested " +
  "them, once per app. The account's key is tried first. If it has another role, enter an Admin key, which is not " +
  "stored."

/** Requests the reports. Returns false if they were requested before. */
export async function requestAnalytics(
  register: Register,
  { workspaceId }: SettingsVisit,
  fields: URLSearchParams,
  kind: AnyAccountKind,
): Promise<boolean> {
  const app = fields.get("app") ?? ""
  if (!/^\d{1,20}$/.test(app)) throw new FormProblem({ app: "Choose an app of the account." })
  const hasKey = ["keyId", "privateKey", fileName("privateKey")].some((name) => fields.get(name))
  const { keyId = "", privateKey = "" } = hasKey ? keyIn(kind, fields, { fresh: "fresh" }) : {}
  const once = hasKey ? { once: { keyId, privateKey } } : {}
  return await createAnalyticsRequest(register, workspaceId, { id: fields.get("id") ?? "", app, ...once })
}
