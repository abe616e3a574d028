import { Fault } from "../../lib/faults.ts"
import { card, empty } from "../../ui/app/parts.ts"
import {
  confirmPage,
  type FormOutcome,
  formCard,
  listItem,
  type SettingsSection,
  type SettingsVisit,
  sectionAddress,
  settingsForm,
  stateTag,
} from "../../ui/app/settings.ts"
import { checkFields, FormProblem, selectField, textField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { counted, spoken } from "../../ui/words.ts"
import type { RuleOption } from "../alert-type.ts"
import { CHANNEL_KINDS, type Channel } from "../delivery/channel-kinds.ts"
import { DROP_BY, takes } from "../rules.ts"
import type { RuleType } from "../types.ts"
import { RULE_TYPES } from "../types.ts"

const PATH = "rules"
const back = sectionAddress(PATH)
const CHANNELS = sectionAddress("channels")

/**
 * Declares the section of the rules: which alerts are delivered, and where. The rules are those of create_alert_rule
 * and delete_alert_rule.
 */
export function rulesSection(): SettingsSection {
  return {
    name: "Alert rules",
    about: "Choose which alerts are delivered, and where.",
    path: PATH,
    needs: "track:write",
    notices: {
      saved: "The rule is saved.",
      deleted: "The rule is deleted. The feed still lists these alerts.",
    },
    async show(visit) {
      const type = typeIn(visit.context.query)
      return type === null ? await listPage(visit) : await editPage(visit, type)
    },
    forms: {
      save: {
        audit: null,
        async send(visit, fields) {
          const type = typeIn(fields)
          if (type === null) throw new FormProblem({ type: "Choose a type of alert." })
          return await write(visit, "create_alert_rule", { type, ...optionsIn(fields, type) }, "saved")
        },
      },
      delete: {
        audit: null,
        send: (visit, fields) => write(visit, "delete_alert_rule", { type: fields.get("id") ?? "" }, "deleted"),
      },
      // sent by the page that asks for an approval
      confirm: {
        audit: null,
        async send({ context }, fields) {
          await context.ask("confirm_action", { confirmToken: fields.get("confirmToken") ?? "" })
          return { to: back, done: "saved" }
        },
      },
    },
  }
}

/** Previews and confirms at once: the page has shown the whole rule, and it can be changed back. */
async function write(visit: SettingsVisit, action: string, args: object, done: string): Promise<FormOutcome> {
  const { approval, confirmToken, preview } = await visit.context.ask("preview_action", { action, args })
  if (approval) {
    const page = confirmPage(visit, {
      title: "An approval is needed",
      body: preview.summary,
      notes: [html`Approve it on <a href="/app/changes" target="_blank">Changes</a>, then confirm here.`],
      form: "confirm",
      fixed: { confirmToken },
      button: "Confirm",
      cancel: back,
    })
    return { page }
  }
  await visit.context.ask("confirm_action", { confirmToken })
  return { to: back, done }
}

function typeIn(fields: URLSearchParams): RuleType | null {
  return RULE_TYPES.find((type) => type === fields.get("type")) ?? null
}

async function listPage(visit: SettingsVisit): Promise<Html> {
  const { rules } = await visit.context.ask("list_alert_rules")
  const free = RULE_TYPES.filter((type) => !rules.some((rule) => rule.type === type))
  const choice = { id: "type", values: null, errors: {} }
  const select = selectField(choice, {
    name: "type",
    label: "Type of alert",
    options: free.map((type) => [type, spoken(type)] as const),
  })
  return html`${
    rules.length === 0
      ? card("Alert rules", empty("No rules yet", "The feed lists every alert. A rule also delivers one type of them."))
      : card("Alert rules", html`<ul class="list">${rules.map((rule) => ruleItem(visit, rule))}</ul>`)
  }${
    free.length > 0 &&
    card(
      "Add a rule",
      html`<div class="inside"><form class="stacked" method="get" action="${back}">${select}
<div class="send"><button class="main" type="submit">Continue</button></div></form></div>`,
    )
  }`
}

interface ListedRule {
  type: string
  channels: string[]
  dropBy: number | null
  keywordScope: string | null
  rivalScope: string | null
}

function ruleItem(visit: SettingsVisit, { type, channels, dropBy, keywordScope, rivalScope }: ListedRule): Html {
  const terms = [
    dropBy !== null && `only drops of at least ${counted(dropBy, "place")}`,
    keywordScope === "tagged" && "tagged keywords only",
    rivalScope === "manual" && "rivals you added only",
  ].filter((text) => text !== false)
  const to = channels.map((channel) => CHANNEL_KINDS[channel as Channel].title).join(", ")
  const remove = settingsForm(visit, { form: "delete", of: type, button: "Delete", tone: "quiet" })
  const edit = html`<a class="button" href="${sectionAddress(PATH, { type })}">Edit</a>`
  return listItem(
    html`<strong>${spoken(type)}</strong> ${to === "" ? stateTag("no channel", false) : `to ${to}`}`,
    terms.join(" · ") || "all alerts of this type",
    html`${edit}${remove}`,
  )
}

async function editPage(visit: SettingsVisit, type: RuleType): Promise<Html> {
  const { rules, channels } = await visit.context.ask("list_alert_rules")
  const rule = rules.find((one) => one.type === type)
  const crumbs = html`<p class="crumbs"><a href="${back}">Alert rules</a></p>`
  const connected = Map.groupBy(channels, ({ kind }) => kind)
  if (connected.size === 0) {
    const link = html`<p class="pages"><a class="button main" href="${CHANNELS}">Add a channel</a></p>`
    const why = empty("Add a channel first", "A rule delivers alerts to a channel.")
    return html`${crumbs}${card(spoken(type), html`${why}${link}`)}`
  }
  const has = (option: RuleOption) => takes(type, option)
  const form = settingsForm(
    visit,
    { form: "save", fixed: { type }, button: "Save rule", tone: "main", cancel: back },
    (state) => html`${checkFields(state, {
      name: "channels",
      label: "Deliver to",
      options: [...connected].map(([kind, of]) => [kind, channelText(kind as Channel, of)] as const),
      chosen: rule?.channels ?? [...connected.keys()],
    })}
${has("dropBy") && textField(state, { ...DROPS, value: String(rule?.dropBy ?? DROP_BY.least) })}
${has("keywordScope") && selectField(state, { ...KEYWORDS, value: rule?.keywordScope ?? "all" })}
${has("rivalScope") && selectField(state, { ...RIVALS, value: rule?.rivalScope ?? "all" })}`,
  )
  return html`${crumbs}${formCard(spoken(type), form)}`
}

const DROPS = {
  name: "dropBy",
  label: "Only drops of at least … places",
  type: "number",
  min: DROP_BY.least,
  max: DROP_BY.most,
} as const
const KEYWORDS = {
  name: "keywordScope",
  label: "Keywords",
  options: [
    ["all", "All keywords"],
    ["tagged", "Tagged keywords only"],
  ],
} as const
const RIVALS = {
  name: "rivalScope",
  label: "Rivals",
  options: [
    ["all", "All rivals"],
    ["manual", "Rivals I added only"],
  ],
} as const

function channelText(kind: Channel, channels: readonly { address: string }[]): Html {
  const addresses = channels.map(({ address }) => address).join(", ")
  return html`${CHANNEL_KINDS[kind].title} <span class="hash quiet">${addresses}</span>`
}

function optionsIn(fields: URLSearchParams, type: RuleType) {
  const channels = fields.getAll("channels")
  if (channels.length === 0) throw new FormProblem({ channels: "Choose at least one channel." })
  const dropBy = Number(fields.get("dropBy"))
  const { least, most } = DROP_BY
  if (takes(type, "dropBy") && !(Number.isInteger(dropBy) && dropBy >= least && dropBy <= most))
    throw new FormProblem({ dropBy: `Enter a whole number from ${least} to ${most}.` })
  if (!channels.every((channel) => Object.hasOwn(CHANNEL_KINDS, channel)))
    throw new Fault("invalid_arguments", { field: "channels", detail: "Choose channels of the list." })
  return {
    channels,
    ...(takes(type, "dropBy") && { dropBy }),
    ...(takes(type, "keywordScope") && { keywordScope: fields.get("keywordScope") ?? "all" }),
    ...(takes(type, "rivalScope") && { rivalScope: fields.get("rivalScope") ?? "all" }),
  }
}
