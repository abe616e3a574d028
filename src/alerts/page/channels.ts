import type { Sealer } from "../../access/sealed.ts"
import type { Sql } from "../../database/types.ts"
import type { Mailer } from "../../outbound/mail/smtp.ts"
import { card, empty } from "../../ui/app/parts.ts"
import {
  confirmPage,
  type FormOutcome,
  formCard,
  type SettingsForm,
  type SettingsSection,
  type SettingsVisit,
  secretField,
  secretPage,
  sectionAddress,
  settingsForm,
} from "../../ui/app/settings.ts"
import { FormProblem, type FormState, textField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { counted, spoken } from "../../ui/words.ts"
import type { ChannelField } from "../delivery/channel-kind.ts"
import { CHANNEL_KINDS, CHANNELS, type Channel } from "../delivery/channel-kinds.ts"
import {
  addChannel,
  type ChannelRow,
  findChannel,
  listChannels,
  pauseChannel,
  removeChannel,
  resumeChannel,
  rotateSecret,
} from "../delivery/channels.ts"
import { openMailPort } from "../delivery/mail-port.ts"
import type { SendPort } from "../delivery/message.ts"
import { testChannel } from "../delivery/test-channel.ts"
import { type AlertRule, listRules } from "../rules.ts"

interface ChannelParts extends Pick<SendPort, "outbound" | "telegramApi"> {
  sql: Sql
  /** Null without a mail server. */
  mailer: Mailer | null
  sealer: Sealer
}

const PATH = "channels"
const back = sectionAddress(PATH)
const TEST_MS = 30_000

const TITLES = CHANNELS.map((kind) => CHANNEL_KINDS[kind].title)

/** Declares the section Channels, which does what `appmeter channel` does in the terminal. */
export function channelsSection(parts: ChannelParts): SettingsSection {
  const { sql, sealer } = parts
  const register = { sql, sealer }
  const idIn = (fields: URLSearchParams) => fields.get("id") ?? ""
  return {
    name: "Channels",
    about: "Deliver alerts to a chat, a phone or your own service.",
    path: PATH,
    needs: "workspace:manage",
    notices: {
      added: "The channel is added. Send it a test message, then choose which alerts it gets.",
      tested: "The test message was delivered.",
      paused: "The channel is paused. Alerts found meanwhile stay in the feed and are not delivered later.",
      resumed: "The channel delivers alerts again.",
      removed: "The channel is removed.",
    },
    async show(visit) {
      const channels = await listChannels(sql, visit.workspaceId)
      const rules = await listRules(sql, visit.workspaceId)
      return html`${
        channels.length === 0
          ? card("Channels", empty("No channels yet", `A channel delivers alerts to one place: ${TITLES.join(", ")}.`))
          : card(
              "Channels",
              html`<ul class="list">${channels.map((channel) => channelItem(visit, channel, rules))}</ul>`,
              html`<a href="${sectionAddress("rules")}">Choose which alerts are delivered</a>`,
            )
      }${formCard("Add a channel", addForms(visit))}`
    },
    forms: {
      ...Object.fromEntries(CHANNELS.map((kind) => [kind, addingForm(kind)])),
      test: {
        audit: null,
        limitMs: TEST_MS,
        async send({ workspaceId, publicUrl }, fields) {
          const { outbound, telegramApi, mailer } = parts
          const mail = mailer && openMailPort(sql, { mailer, publicUrl })
          const reach = { outbound, telegramApi, mail }
          const { taken, failure } = await testChannel(register, reach, workspaceId, idIn(fields))
          if (taken) return { to: back, done: "tested" }
          throw new FormProblem({ "": `The test message was not delivered: ${failure}.` })
        },
      },
      pause: changing("channel pause", "paused", (workspaceId, id) => pauseChannel(sql, workspaceId, id)),
      resume: changing("channel resume", "resumed", (workspaceId, id) => resumeChannel(sql, workspaceId, id)),
      rotate: {
        audit: "channel rotate",
        async send({ workspaceId }, fields) {
          const { secret } = await rotateSecret(register, workspaceId, idIn(fields))
          return signingSecretPage("New signing secret", secret)
        },
      },
      remove: {
        audit: null,
        async send(visit, fields) {
          const channel = await findChannel(sql, visit.workspaceId, idIn(fields))
          return { page: removePage(visit, channel) }
        },
      },
      removed: changing("channel remove", "removed", (workspaceId, id) => removeChannel(sql, workspaceId, id)),
    },
  }

  function addingForm(kind: Channel): SettingsForm {
    return {
      audit: `channel add ${kind}`,
      async send({ workspaceId }, fields): Promise<FormOutcome> {
        const entered = CHANNEL_KINDS[kind].fields.map(({ name }) => [name, fields.get(name)?.trim() ?? ""])
        const { secret } = await addChannel(register, workspaceId, kind, Object.fromEntries(entered))
        return secret === undefined ? { to: back, done: "added" } : signingSecretPage("Webhook added", secret)
      },
    }
  }

  function changing(
    audit: string,
    done: string,
    change: (workspaceId: number, id: string) => Promise<unknown>,
  ): SettingsForm {
    return {
      audit,
      async send({ workspaceId }, fields): Promise<FormOutcome> {
        await change(workspaceId, idIn(fields))
        return { to: back, done }
      },
    }
  }
}

const NO_RULE = html`No rule uses it. <a href="${sectionAddress("rules")}">Add a rule</a>`

function channelItem(visit: SettingsVisit, channel: ChannelRow, rules: readonly AlertRule[]): Html {
  const { id, kind, address, state, disabled, lastOk, lastFailure, failure, waiting, undelivered } = channel
  const used = rules.filter(({ channels }) => channels.includes(kind)).map(({ type }) => spoken(type).toLowerCase())
  const quiet = { of: id, tone: "quiet" } as const
  const tag = {
    on: html`<span class="tag good">on</span>`,
    paused: html`<span class="tag warn">paused</span>`,
    disabled: html`<span class="tag warn">off: ${disabled}</span>`,
  }[state]
  const toggles = {
    on: settingsForm(visit, { ...quiet, form: "pause", button: "Pause" }),
    paused: settingsForm(visit, { ...quiet, form: "resume", button: "Resume" }),
    disabled: "",
  }
  const { movedFrom, movedAt } = channel
  const moved =
    movedFrom !== null &&
    movedAt !== null &&
    html`<p class="small">The chat got a new id ${momentTime(movedAt.toISOString())}: alerts go there instead of to
<span class="hash">${movedFrom}</span>.</p>
`
  const test = settingsForm(visit, { ...quiet, form: "test", button: "Send test message" })
  const counts = [
    waiting > 0 && `${waiting} waiting`,
    undelivered > 0 && `${counted(undelivered, "alert")} not delivered`,
  ].filter((text) => text !== false)
  return html`<li><p><strong>${CHANNEL_KINDS[kind].title}</strong> <span class="hash">${address}</span> ${tag}</p>
<p class="small">${used.length > 0 ? `Delivers: ${used.join(", ")}` : NO_RULE}</p>
<p class="small quiet">${lastOk ? html`Last delivery ${momentTime(lastOk.toISOString())}` : "Nothing delivered yet"}${
    failure && lastFailure && html` · failed ${momentTime(lastFailure.toISOString())}: ${failure}`
  }${counts.map((text) => ` · ${text}`)}</p>
${moved}<div class="buttons">${test}${toggles[state]}${
    kind === "webhook" && settingsForm(visit, { ...quiet, form: "rotate", button: "New signing secret" })
  }${settingsForm(visit, { ...quiet, form: "remove", button: "Remove…" })}</div></li>
`
}

function addForms(visit: SettingsVisit): Html[] {
  return CHANNELS.map((kind) => {
    const { title, button, fields } = CHANNEL_KINDS[kind]
    const form = settingsForm(visit, { form: kind, button }, (state) => fields.map((field) => fieldOf(state, field)))
    const isOpen = visit.context.refused?.id === kind
    return html`<details${isOpen && html` open=""`}><summary>${title}</summary>${form}</details>
`
  })
}

function fieldOf(state: FormState, { name, label, hint, isSecret, isOptional }: ChannelField): Html {
  const field = { name, label: isOptional ? `${label} (optional)` : label, hint }
  return isSecret ? secretField(state, field) : textField(state, { ...field, isRequired: !isOptional })
}

function signingSecretPage(title: string, secret: string): FormOutcome {
  const body = "Your receiver verifies messages with it. An earlier secret stays valid for 24 hours."
  return { page: secretPage(title, { secret, label: "Signing secret", body, back }) }
}

function removePage(visit: SettingsVisit, { id, kind, address, waiting }: ChannelRow) {
  const lost = waiting > 0 ? ` ${counted(waiting, "waiting alert")} will not be delivered.` : ""
  return confirmPage(visit, {
    title: `Remove this ${CHANNEL_KINDS[kind].title} channel?`,
    body: html`Nothing is sent to <span class="hash">${address}</span> any more.${lost} This cannot be undone.`,
    form: "removed",
    of: id,
    button: "Remove channel",
    cancel: back,
  })
}
