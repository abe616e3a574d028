import { randomBytes } from "node:crypto"
import { parseAddressList } from "../../access/addresses.ts"
import { ALL_ACTIONS, listKeysWithApproval, setApprovalRule } from "../../access/approval-rules.ts"
import {
  type ApiKey,
  createKey,
  findWorkspaceKey,
  listWorkspaceKeys,
  markLeaked,
  pauseKey,
  resumeKey,
  revokeKey,
} from "../../access/key-register.ts"
import { AccessProblem } from "../../access/problem.ts"
import { DEFAULT_SCOPES, SCOPE_MEANINGS, SCOPES, type Scope } from "../../access/scopes.ts"
import type { Sql } from "../../database/types.ts"
import { card, empty } from "../../ui/app/parts.ts"
import {
  confirmPage,
  type FormOutcome,
  formCard,
  listItem,
  radioFields,
  type SettingsSection,
  type SettingsVisit,
  secretPage,
  sectionAddress,
  settingsForm,
  stateTag,
} from "../../ui/app/settings.ts"
import { areaField, checkFields, FormProblem, textField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { counted, whole } from "../../ui/words.ts"

const PATH = "keys"
const back = sectionAddress(PATH)

/** API keys: what `appmeter key` does in the terminal. */
export function keysSection(sql: Sql): SettingsSection {
  const find = (visit: SettingsVisit, fields: URLSearchParams) =>
    findWorkspaceKey(sql, visit.workspaceId, Number(fields.get("id")))
  const changing = (audit: string, done: string, change: (sql: Sql, id: number) => Promise<ApiKey>) => ({
    audit,
    async send(visit: SettingsVisit, fields: URLSearchParams): Promise<FormOutcome> {
      const { id } = await find(visit, fields)
      await change(sql, id)
      return { to: back, done }
    },
  })
  const approving = (...actions: string[]) => ({
    audit: "approval require",
    async send(visit: SettingsVisit, fields: URLSearchParams): Promise<FormOutcome> {
      const { id } = await find(visit, fields)
      await setApprovalRule(sql, visit.workspaceId, id, { actions })
      return { to: back, done: actions.length > 0 ? "required" : "trusted" }
    },
  })
  return {
    name: "Keys",
    about: "Let programs and assistants call the API.",
    path: PATH,
    needs: "workspace:manage",
    notices: {
      paused: "The key is paused. Its calls are refused until you resume it.",
      resumed: "The key works again.",
      revoked: "The key is revoked.",
      required: "Each change by the key now waits until you approve it under Changes.",
      trusted: "Changes by the key need no approval.",
    },
    async show(visit) {
      const keys = await listWorkspaceKeys(sql, visit.workspaceId)
      const approvals = await listKeysWithApproval(sql, visit.workspaceId)
      const programKeys = keys.filter(({ kind }) => kind !== "grant")
      // leaves out the person's own session on these pages, which is a grant with the hint "pages"
      const grants = keys.filter(({ kind, hint }) => kind === "grant" && hint !== "pages")
      const { apps } = await visit.context.ask("list_app_heads")
      const assistants = card(
        "Connected assistants",
        keyList(visit, grants, approvals),
        counted(grants.length, "assistant"),
      )
      const none = card("Keys", empty("No keys yet", "A key lets a program or an assistant call the API."))
      const listed = card("Keys", keyList(visit, programKeys, approvals), counted(programKeys.length, "key"))
      return html`${programKeys.length === 0 ? none : listed}
${grants.length > 0 && assistants}
${formCard("Create a key", createForm(visit, apps))}`
    },
    forms: {
      create: {
        audit: "key create",
        async send({ workspace, person: { personId } }, fields) {
          const kind = fields.get("kind") === "test" ? "test" : "live"
          const { secret, key } = await createKey(
            sql,
            { workspace, kind, personId, ...restrictionsIn(fields) },
            randomBytes,
          )
          const reference = html`The <a href="/docs">reference</a> has every call.`
          const body = html`Send it in the header <code>Authorization: Bearer …</code>. ${reference}`
          return { page: secretPage(`Key “${key.name}” created`, { secret, label: "Secret", body, back }) }
        },
      },
      require: approving(ALL_ACTIONS),
      trust: approving(),
      pause: changing("key pause", "paused", pauseKey),
      resume: changing("key resume", "resumed", resumeKey),
      revoke: {
        audit: null,
        async send(visit, fields) {
          const key = await find(visit, fields)
          return { page: revokePage(visit, key) }
        },
      },
      revoked: changing("key revoke", "revoked", revokeKey),
      leaked: changing("key leaked", "revoked", markLeaked),
    },
  }
}

function keyList(visit: SettingsVisit, keys: readonly ApiKey[], approvals: ReadonlySet<number>): Html {
  return html`<ul class="list">${keys.map((key) => keyItem(visit, key, approvals.has(key.id)))}</ul>`
}

const STATES: Record<ApiKey["state"], string> = {
  usable: "active",
  paused: "paused",
  on_hold: "on hold: the plan allows fewer keys",
  expired: "expired",
  revoked: "revoked",
  leaked: "revoked as leaked",
}

function keyItem(visit: SettingsVisit, key: ApiKey, needsApproval: boolean): Html {
  const { id, name, kind, hint, state, used, monthlyBudget, scopes, appList, ipAllowList, expiresAt, createdAt } = key
  const isOver = state === "revoked" || state === "leaked" || state === "expired"
  const of = String(id)
  const toggle =
    state === "paused"
      ? settingsForm(visit, { form: "resume", of, button: "Resume", tone: "quiet" })
      : settingsForm(visit, { form: "pause", of, button: "Pause", tone: "quiet" })
  const approval = needsApproval
    ? settingsForm(visit, { form: "trust", of, button: "Require no approval", tone: "quiet" })
    : settingsForm(visit, { form: "require", of, button: "Require approval", tone: "quiet" })
  const revoke = settingsForm(visit, { form: "revoke", of, button: "Revoke…", tone: "quiet" })
  const limits = [
    `${whole(used)}${monthlyBudget === null ? "" : ` of ${whole(monthlyBudget)}`} credits this month`,
    appList === null ? "every app" : counted(appList.length, "app"),
    ipAllowList !== null && `only from ${ipAllowList.join(", ")}`,
    needsApproval && "its changes wait for approval",
  ]
  const rights = scopes.map((scope) => html`<li><code>${scope}</code> ${SCOPE_MEANINGS[scope]}</li>`)
  const tag = stateTag(STATES[state], state === "usable")
  const title = html`<strong><bdi>${name}</bdi></strong> <span class="hash">${hint}</span> ${tag}`
  const dates = html`created ${dayOf(createdAt)}${expiresAt && html` · expires ${dayOf(expiresAt)}`}`
  const list = html`<details><summary>${counted(scopes.length, "right")}</summary><ul>${rights}</ul></details>`
  return listItem(
    html`${title}${kind === "test" && html` <span class="tag">test</span>`}`,
    html`${limits.filter(Boolean).join(" · ")} · ${dates}`,
    html`${!isOver && html`${kind !== "test" && approval}${toggle}${revoke}`}${list}`,
  )
}

const dayOf = (at: Date) => dayTime(at.toISOString().slice(0, 10))

interface ListedApp {
  id: string
  name: string
}

function createForm(visit: SettingsVisit, apps: readonly ListedApp[]): Html {
  return settingsForm(visit, { form: "create", button: "Create key", tone: "main" }, (form) => {
    const appList = {
      name: "appList",
      label: "Limit to apps",
      hint: "Tick none for every app, including apps you add later.",
      options: apps.map(({ id, name }) => [id, html`<bdi>${name}</bdi>`] as const),
    }
    return html`${textField(form, NAME)}
${radioFields(form, KIND)}
${checkFields(form, RIGHTS)}
${apps.length > 0 && checkFields(form, appList)}<details><summary>Limits</summary>
${textField(form, { name: "monthlyBudget", label: "Credits per month", type: "number", min: 0, hint: "Optional." })}
${textField(form, EXPIRY)}
${areaField(form, ADDRESSES)}
</details>`
  })
}

const NAME = {
  name: "name",
  label: "Name",
  hint: "What it is for, such as “CI”.",
  maxLength: 100,
  isRequired: true,
}
const EXPIRY = {
  name: "expiresAt",
  label: "Expires",
  type: "date",
  hint: "Optional. The key stops working at 00:00 UTC of this day.",
} as const
const ADDRESSES = {
  name: "ipAllowList",
  label: "Only from these addresses",
  rows: 2,
  hint: "Optional. One address or network per line, such as 192.0.2.0/24.",
}

const KIND = {
  name: "kind",
  label: "Kind",
  value: "live",
  options: [
    ["live", html`Live <span class="quiet">· answers with your data</span>`],
    ["test", html`Test <span class="quiet">· answers with the fixed data of the sandbox</span>`],
  ],
} as const

const RIGHTS = {
  name: "scopes",
  label: "Rights",
  chosen: DEFAULT_SCOPES,
  options: SCOPES.map((scope) => [scope, html`${SCOPE_MEANINGS[scope]} <code class="quiet">${scope}</code>`] as const),
}

function restrictionsIn(fields: URLSearchParams) {
  const scopes = fields.getAll("scopes") as Scope[]
  if (scopes.length === 0) throw new FormProblem({ scopes: "Choose at least one right." })
  const appList = fields.getAll("appList")
  const budget = fields.get("monthlyBudget")?.trim() ?? ""
  const ipAllowList = addressesIn(fields.get("ipAllowList") ?? "")
  const expiresAt = expiryIn(fields.get("expiresAt") ?? "")
  return {
    name: fields.get("name") ?? "",
    scopes,
    ...(appList.length > 0 && { appList }),
    ...(budget !== "" && { monthlyBudget: Number(budget) }),
    ...(ipAllowList.length > 0 && { ipAllowList }),
    ...(expiresAt && { expiresAt }),
  }
}

function addressesIn(text: string): string[] {
  const entries = text.split(/[\s,;]+/).filter(Boolean)
  try {
    parseAddressList(entries)
  } catch (error) {
    if (!(error instanceof AccessProblem)) throw error
    throw new FormProblem({ ipAllowList: error.message })
  }
  return entries
}

function expiryIn(text: string): Date | undefined {
  if (text === "") return undefined
  const at = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : Number.NaN)
  // Date turns February 30 into March 2
  if (Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== text)
    throw new FormProblem({ expiresAt: "Give a day, such as 2027-01-31." })
  return at
}

function revokePage(visit: SettingsVisit, { id, name, hint }: ApiKey) {
  const of = String(id)
  const leaked = settingsForm(visit, { form: "leaked", of, button: "Revoke as leaked" })
  const page = confirmPage(visit, {
    title: `Revoke “${name}”?`,
    body: html`Calls with <span class="hash">${hint}</span> stop working within a second. This cannot be undone.`,
    cancel: back,
    form: "revoked",
    of,
    button: "Revoke key",
  })
  const why = html`<p>Calls are then refused with the reason, so that its user learns it.</p>`
  const body = html`${page.body}${formCard("Did somebody else see it?", why, leaked)}`
  return { ...page, body }
}
