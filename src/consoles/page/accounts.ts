import type { Sealer } from "../../access/sealed.ts"
import type { Sql } from "../../database/types.ts"
import { keysOf, ownValue } from "../../lib/objects.ts"
import { card, empty } from "../../ui/app/parts.ts"
import {
  confirmPage,
  type FormOutcome,
  formCard,
  formId,
  type SettingsSection,
  type SettingsVisit,
  sectionAddress,
  settingsForm,
} from "../../ui/app/settings.ts"
import { checkFields, FormProblem, selectField, textField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import type { AccountKindName, AccountReach, AnyAccountKind } from "../account-kind.ts"
import { ACCOUNT_KINDS, accountKind, takesWrites } from "../account-kinds.ts"
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
import { limitIn, limitsOf, type WriteLimits } from "../writing/limits.ts"
import { setWrites } from "../writing/writers.ts"
import { analyticsPart, requestAnalytics } from "./account-analytics.ts"
import {
  fileName,
  keyFields,
  keyIn,
  keyOf,
  keyPairForm,
  SEALED_KEY,
  sealForForm,
  sentenceCase,
  withKeyPair,
} from "./account-keys.ts"
import { accountList } from "./account-list.ts"

interface AccountParts {
  sql: Sql
  sealer: Sealer
  reach: AccountReach
  /** Deletes the stored responses of an account. */
  forgetBodies(accountId: string): Promise<void>
}

const PATH = "accounts"
const back = sectionAddress(PATH)
/** A test sends about six requests to a console, one after another. */
const CONSOLE_MS = 120_000

/** Returns the section of connected accounts. It offers what `appmeter account` does in the terminal. */
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
      resumed: "Reading has resumed.",
      mapped: "The app is mapped.",
      requested: "The analytics reports are requested. The first arrive within two days.",
      running: "These analytics reports were requested before.",
      writes: "The settings for writes are saved.",
      removed: "The account is disconnected, and its key is destroyed.",
    },
    async show(visit) {
      const { query } = visit.context
      const adding = kindIn(query.get("add"))
      if (adding) return addPage(visit, adding)
      const id = query.get("account")
      if (id !== null) return changePage(visit, await find(visit, id), query.get("change"))
      return await accountList(visit, await listAccounts(sql, visit.workspaceId))
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
          await rotateKey(
            register,
            visit.workspaceId,
            id,
            await keyOf(register.sealer, { visit, kind, fields }, "fresh"),
          )
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
      keygen: {
        audit: null,
        async send(visit, fields) {
          const account = fields.has("id") ? await find(visit, idIn(fields)) : null
          const kind = account ? accountKind(account.kind) : kindIn(fields.get("kind"))
          if (!kind) throw new FormProblem({ "": "Choose a type of account." })
          const form = account ? formId("rotate", account.id) : "add"
          const filled = await withKeyPair(register.sealer, visit, { kind, form })
          const body = account ? changePage(filled, account, "rotate") : addPage(filled, kind)
          return { page: { title: `Key pair for ${kind.title}`, at: "/settings", body } }
        },
      },
      analytics: {
        audit: "account analytics",
        limitMs: CONSOLE_MS,
        async send(visit, fields) {
          const { kind } = await find(visit, idIn(fields))
          const isNew = await requestAnalytics(register, visit, fields, accountKind(kind))
          return { to: back, done: isNew ? "requested" : "running" }
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

/**
 * Connects an account. If the key opens several accounts, asks which one to connect; the key is carried encrypted, so
 * that it is sent only once.
 */
async function add(register: Register, visit: SettingsVisit, fields: URLSearchParams): Promise<FormOutcome> {
  const kind = kindIn(fields.get("kind"))
  if (!kind) throw new FormProblem({ "": "Choose a type of account." })
  const key = await keyOf(register.sealer, { visit, kind, fields })
  const part = fields.get("part")?.trim() || null
  if (part === null && !kind.listParts) throw new FormProblem({ part: "This field is needed." })
  try {
    await addAccount(register, visit.workspaceId, { kind: kind.name, key, part })
    return { to: back, done: "added" }
  } catch (error) {
    if (!(error instanceof SeveralParts)) throw error
    const sealedKey = await sealForForm(register.sealer, { visit, kind }, key)
    const options = error.parts.map(({ id, name }) => [id, `${name} (${id})`] as const)
    const page = confirmPage(
      visit,
      {
        title: `Which ${kind.part.name}?`,
        body: `The key gives access to ${error.parts.length}; select one. Repeat this for each one you want.`,
        form: "add",
        fixed: { kind: kind.name, [SEALED_KEY]: sealedKey },
        button: `Connect ${kind.title}`,
        cancel: back,
      },
      (form) => selectField(form, { name: "part", label: partLabel(kind), options }),
    )
    return { page }
  }
}

function writesIn(kind: AnyAccountKind, fields: URLSearchParams) {
  const on = fields.get("writes") === "on"
  const { secret } = kind
  const hasKey = secret !== null && [secret.name, fileName(secret.name)].some((name) => fields.get(name))
  const limits: Partial<WriteLimits> = {}
  for (const name of keysOf(LIMIT_LABELS)) {
    const value = fields.get(name)
    if (value !== null) Object.assign(limits, limitIn(`${name}=${value}`))
  }
  return { on, limits, ...(on && hasKey && { key: keyIn(kind, fields, { fresh: "fresh" }) }) }
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
  return html`${crumbs()}${formCard(title, note, form)}${keyPairForm(visit, kind)}`
}

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
    const note = `The new key replaces ${shown} once ${kind.title} accepts it. Reading continues without a gap.`
    return html`${crumbs()}${formCard(`Replace the key of ${kind.title}`, html`<p>${note}</p>`, form)}
${keyPairForm(visit, kind, id)}`
  }
  if (change === "analytics" && kind.needsAsking) return html`${crumbs()}${analyticsPart(visit, account, kind)}`
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

function removePage(visit: SettingsVisit, { id, kind, state }: AccountRow) {
  const { title } = accountKind(kind)
  const isRemoved = state === "removed"
  return confirmPage(
    visit,
    {
      title: isRemoved ? `Delete the data of ${title}?` : `Disconnect ${title}?`,
      body: html`${!isRemoved && "Its stored credentials are destroyed. "}This cannot be undone.`,
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
