import type { Sealer } from "../../access/sealed.ts"
import type { Sql } from "../../database/types.ts"
import { keysOf, ownValue } from "../../lib/objects.ts"
import { card, empty } from "../../ui/app/parts.ts"
import {
  confirmPage,
  type FormOutcome,
  formCard,
  listItem,
  namedTable,
  type SettingsSection,
  type SettingsVisit,
  secretField,
  sectionAddress,
  settingsForm,
  stateTag,
} from "../../ui/app/settings.ts"
import { checkFields, FormProblem, type FormState, fileField, selectField, textField } from "../../ui/fields.ts"
import { type Html, type HtmlPart, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { counted } from "../../ui/words.ts"
import type { AccountKindName, AccountReach, AnyAccountKind } from "../account-kind.ts"
import { ACCOUNT_KINDS, accountKind, takesWrites } from "../account-kinds.ts"
import type { AccountKey } from "../credentials.ts"
import {
  type AccountRow,
  addAccount,
  findAccount,
  listAccounts,
  pauseAccount,
  type Register,
  removeAccount,
  rotateKey,
  SeveralParts,
  setMapping,
  testAccount,
} from "../register.ts"
import { troubleLines } from "../trouble-lines.ts"
import { limitIn, limitsOf, type WriteLimits } from "../writing/limits.ts"
import { setWrites } from "../writing/writers.ts"

interface AccountParts {
  sql: Sql
  sealer: Sealer
  reach: AccountReach
  /** Deletes the stored responses of an account. */
  forgetBodies(accountId: string): Promise<void>
}

const PATH = "accounts"
const back = sectionAddress(PATH)
/** A console is asked some six questions, one after another. */
const CONSOLE_MS = 120_000

/** Connected accounts: what `appmeter account` does in the terminal. */
export function accountsSection({ forgetBodies, ...register }: AccountParts): SettingsSection {
  const { sql } = register
  const idIn = (fields: URLSearchParams) => fields.get("id") ?? ""
  const find = async (visit: SettingsVisit, id: string) => await findAccount(sql, visit.workspaceId, id)
  return {
    name: "Connected accounts",
    about: "Read sales, ads and subscriptions from your own accounts.",
    path: PATH,
    needs: "workspace:manage",
    notices: {
      added: "The account is connected.",
      tested: "The rights of the key were checked just now.",
      rotated: "The new key is in use. You can revoke the old one.",
      paused: "Reading is paused. Data already read is kept.",
      resumed: "Reading goes on.",
      mapped: "The app is mapped.",
      writes: "The writes of the account are changed.",
      removed: "The account is disconnected, and its key destroyed.",
    },
    async show(visit) {
      const { query } = visit.desk
      const adding = kindIn(query.get("add"))
      if (adding) return addPage(visit, adding)
      const id = query.get("account")
      if (id !== null) return changePage(visit, await find(visit, id), query.get("change"))
      return await listPage(visit, await listAccounts(sql, visit.workspaceId))
    },
    forms: {
      add: {
        audit: "account add",
        limitMs: CONSOLE_MS,
        send: (visit, fields) => add(register, visit, fields),
      },
      test: {
        audit: null,
        limitMs: CONSOLE_MS,
        async send({ workspaceId }, fields) {
          await testAccount(register, workspaceId, idIn(fields))
          return { to: back, done: "tested" }
        },
      },
      rotate: {
        audit: "account rotate",
        limitMs: CONSOLE_MS,
        async send(visit, fields) {
          const { id, kind: name } = await find(visit, idIn(fields))
          const kind = accountKind(name)
          await rotateKey(register, visit.workspaceId, id, keyIn(kind, fields, "fresh"))
          return { to: back, done: "rotated" }
        },
      },
      writes: {
        audit: "account writes",
        limitMs: CONSOLE_MS,
        async send(visit, fields) {
          const { id, kind: name } = await find(visit, idIn(fields))
          if (!takesWrites(name)) throw new FormProblem({ "": "This account does not support writes." })
          await setWrites(register, visit.workspaceId, id, writesIn(accountKind(name), fields))
          return { to: back, done: "writes" }
        },
      },
      map: {
        audit: "account map",
        async send({ workspaceId }, fields) {
          const outsideId = fields.get("outsideId") ?? ""
          await setMapping(sql, workspaceId, { id: idIn(fields), outsideId, appId: fields.get("appId") || null })
          return { to: back, done: "mapped" }
        },
      },
      pause: {
        audit: "account pause",
        async send({ workspaceId }, fields) {
          await pauseAccount(sql, workspaceId, idIn(fields), true)
          return { to: back, done: "paused" }
        },
      },
      resume: {
        audit: "account pause --off",
        async send({ workspaceId }, fields) {
          await pauseAccount(sql, workspaceId, idIn(fields), false)
          return { to: back, done: "resumed" }
        },
      },
      remove: {
        audit: null,
        async send(visit, fields) {
          return { page: removePage(visit, await find(visit, idIn(fields))) }
        },
      },
      removed: {
        audit: "account remove",
        async send({ workspaceId }, fields) {
          const forget = fields.get("forget") === "on"
          const { id } = await removeAccount(sql, workspaceId, idIn(fields), forget)
          if (forget) await forgetBodies(id)
          return { to: back, done: "removed" }
        },
      },
    },
  }
}

function kindIn(name: string | null): AnyAccountKind | undefined {
  return ACCOUNT_KINDS.find((kind) => kind.name === name)
}

/** Asks which one if the key opens several accounts. The key is carried encrypted, so that it is sent only once. */
async function add(register: Register, visit: SettingsVisit, fields: URLSearchParams): Promise<FormOutcome> {
  const kind = kindIn(fields.get("kind"))
  if (!kind) throw new FormProblem({ "": "Choose a type of account." })
  const place = { table: "account form", row: `${visit.workspaceId} ${kind.name}` }
  const sealed = fields.get("sealedKey")
  const key: AccountKey = sealed === null ? keyIn(kind, fields) : JSON.parse(await register.sealer.open(sealed, place))
  const part = fields.get("part")?.trim() || null
  if (part === null && !kind.listParts) throw new FormProblem({ part: "This field is needed." })
  try {
    await addAccount(register, visit.workspaceId, { kind: kind.name, key, part })
    return { to: back, done: "added" }
  } catch (error) {
    if (!(error instanceof SeveralParts)) throw error
    const sealedKey = await register.sealer.seal(JSON.stringify(key), place)
    const options = error.parts.map(({ id, name }) => [id, `${name} (${id})`] as const)
    const page = confirmPage(
      visit,
      {
        title: `Which ${kind.part.name}?`,
        body: `The key opens ${error.parts.length} of them. Connect each one that you want to see.`,
        form: "add",
        fixed: { kind: kind.name, sealedKey },
        button: `Connect ${kind.title}`,
        cancel: back,
      },
      (form) => selectField(form, { name: "part", label: partLabel(kind), options }),
    )
    return { page }
  }
}

/** Reads a key from its fields. A file goes before a pasted text. `fresh`: only what a new key changes. */
function keyIn({ ids, secret }: AnyAccountKind, fields: URLSearchParams, fresh?: "fresh"): AccountKey {
  const names = Object.keys(ids).filter((name) => !fresh || ids[name]?.fresh)
  const key = Object.fromEntries(names.map((name) => [name, fields.get(name)?.trim() ?? ""]))
  const missing = names.filter((name) => key[name] === "")
  if (secret) {
    key[secret.name] = (fields.get(fileName(secret.name)) || fields.get(secret.name) || "").trim()
    if (key[secret.name] === "") missing.push(secret.name)
  }
  if (missing.length === 0) return key
  throw new FormProblem(Object.fromEntries(missing.map((name) => [name, "This field is needed."])))
}

const fileName = (secret: string) => `${secret}File`

function writesIn(kind: AnyAccountKind, fields: URLSearchParams) {
  const on = fields.get("writes") === "on"
  const { secret } = kind
  const hasKey = secret !== null && [secret.name, fileName(secret.name)].some((name) => fields.get(name))
  const limits: Partial<WriteLimits> = {}
  for (const name of keysOf(LIMIT_LABELS)) {
    const value = fields.get(name)
    if (value !== null) Object.assign(limits, limitIn(`${name}=${value}`))
  }
  return { on, limits, ...(on && hasKey && { key: keyIn(kind, fields, "fresh") }) }
}

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

async function listPage(visit: SettingsVisit, accounts: readonly AccountRow[]): Promise<Html> {
  const { apps } = await visit.desk.ask("list_standings")
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

/** An account of a large seller has hundreds of apps. */
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
  }${settingsForm(visit, { ...quiet, form: "remove", button: "Disconnect…" })}</div>`
}

function crumbs(): Html {
  return html`<p class="crumbs"><a href="${back}">Connected accounts</a></p>`
}

function addPage(visit: SettingsVisit, kind: AnyAccountKind): Html {
  const { name, title, summary, listParts, part } = kind
  const form = settingsForm(
    visit,
    { form: "add", fixed: { kind: name }, button: `Connect ${title}`, tone: "main", hasFile: true, cancel: back },
    (state) => html`${keyFields(state, kind)}
${textField(state, { name: "part", label: partLabel(kind), hint: part.meaning, isRequired: !listParts })}`,
  )
  const note = html`<p>${summary}</p>
<p class="small quiet">The key is checked first, then stored encrypted. It is not shown again.</p>`
  return html`${crumbs()}${formCard(title, note, form)}`
}

function keyFields(form: FormState, { ids, secret }: AnyAccountKind, fresh?: "fresh"): HtmlPart {
  const names = Object.keys(ids).filter((name) => !fresh || ids[name]?.fresh)
  const isRequired = fresh === undefined
  const idFields = names.map((name) =>
    textField(form, { name, label: labelOf(name), hint: ids[name]!.meaning, isRequired }),
  )
  if (!secret) return idFields
  const { name, meaning: hint } = secret
  const label = `${labelOf(name)}, as a file`
  const file = fileField(form, { name: fileName(name), label, accept: ".p8,.pem,.txt,.key", hint })
  return [...idFields, file, secretField(form, { name, label: "Or pasted" })]
}

const LABELS: Record<string, string> = {
  issuer: "Issuer ID",
  keyId: "Key ID",
  clientId: "Client ID",
  teamId: "Team ID",
  privateKey: "Private key",
  apiKey: "API key",
  secret: "Secret",
}
const labelOf = (name: string) => ownValue(LABELS, name) ?? sentenceCase(name)

const PARTS: Record<string, string> = { vendor: "Vendor number", app: "App Store ID of the app" }
const partLabel = ({ part }: AnyAccountKind) => ownValue(PARTS, part.name) ?? sentenceCase(part.name)

function changePage(visit: SettingsVisit, account: AccountRow, change: string | null): Html {
  const kind = accountKind(account.kind)
  const { id, shown, writes, shownWrite } = account
  if (change === "rotate" && kind.secret) {
    const form = settingsForm(
      visit,
      { form: "rotate", of: id, button: "Replace key", tone: "main", hasFile: true, cancel: back },
      (state) => keyFields(state, kind, "fresh"),
    )
    const note = `The new key replaces ${shown} once ${kind.title} accepts it. Reading goes on without a break.`
    return html`${crumbs()}${formCard(`Replace the key of ${kind.title}`, html`<p>${note}</p>`, form)}`
  }
  if (change !== "writes" || !takesWrites(account.kind)) {
    const nothing = empty("There is nothing to change here", "Choose an action on the account.")
    return html`${crumbs()}${card(kind.title, nothing)}`
  }
  const limits = limitsOf(account.writeLimits)
  const names = limitNames(account.kind)
  const form = settingsForm(
    visit,
    { form: "writes", of: id, button: "Save", tone: "main", hasFile: true, cancel: back },
    (state) => html`${checkFields(state, { ...ALLOW, chosen: writes ? ["on"] : [] })}
${names.map((name) => textField(state, { name, label: LIMIT_LABELS[name], value: String(limits[name]) }))}
<details><summary>Use a separate key for writes${shownWrite && ` (now ${shownWrite})`}</summary>
${keyFields(state, kind, "fresh")}</details>`,
  )
  const note =
    "Each write is previewed, confirmed and counted against these limits. Turning writes off destroys a separate key."
  return html`${crumbs()}${formCard(`Writes to ${kind.title}`, html`<p>${note}</p>`, form)}`
}

const ALLOW = { name: "writes", label: "Writes", options: [["on", "Allow writes to this account"]] } as const

const LIMIT_LABELS: Record<keyof WriteLimits, string> = {
  writesADay: "Writes per day",
  step: "Largest change of a bid or budget in one write (0.5 is half)",
  leastBid: "Lowest bid, in the account's currency",
  mostBid: "Highest bid, in the account's currency",
  mostBudget: "Highest budget, in the account's currency",
}

function limitNames(kind: AccountKindName): (keyof WriteLimits)[] {
  return kind === "apple-ads" ? keysOf(LIMIT_LABELS) : ["writesADay"]
}

function removePage(visit: SettingsVisit, { id, kind, shown, state }: AccountRow) {
  const { title } = accountKind(kind)
  const isRemoved = state === "removed"
  return confirmPage(
    visit,
    {
      title: isRemoved ? `Delete the data of ${title}?` : `Disconnect ${title}?`,
      body: html`${!isRemoved && `Its ${shown} is destroyed. `}This cannot be undone.`,
      form: "removed",
      of: id,
      ...(isRemoved && { fixed: { forget: "on" } }),
      button: isRemoved ? "Delete data" : "Disconnect account",
      cancel: back,
    },
    (form) =>
      !isRemoved &&
      checkFields(form, {
        name: "forget",
        label: "Data",
        options: [["on", "Also delete the data that was read from it"]],
      }),
  )
}

function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
