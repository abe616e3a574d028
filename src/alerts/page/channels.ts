import type { Sealer } from "../../access/sealed.ts"
import type { Sql } from "../../database/types.ts"
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
import { FormProblem, textField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { counted, spoken } from "../../ui/words.ts"
import {
  addSlack,
  addTelegram,
  addWebhook,
  type ChannelRow,
  findChannel,
  listChannels,
  pauseChannel,
  removeChannel,
  resumeChannel,
  rotateSecret,
} from "../delivery/channels.ts"
import type { SendPort } from "../delivery/message.ts"
import { testChannel } from "../delivery/test-channel.ts"
import type { AlertRule, Channel } from "../rules.ts"
import { listRules } from "../rules.ts"

interface ChannelParts extends Pick<SendPort, "outbound" | "telegramApi"> {
  sql: Sql
  sealer: Sealer
}

const PATH = "channels"
const back = sectionAddress(PATH)
const TEST_MS = 30_000

export const CHANNEL_NAMES: Record<Channel, string> = { slack: "Slack", telegram: "Telegram", webhook: "Webhook" }

/** Channels: what `appmeter channel` does in the terminal. */
export function channelsSection(parts: ChannelParts): SettingsSection {
  const { sql, sealer } = parts
  const register = { sql, sealer }
  const idIn = (fields: URLSearchParams) => fields.get("id") ?? ""
  return {
    name: "Channels",
    about: "Deliver alerts to Slack, Telegram or your own service.",
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
          ? card(
              "Channels",
              empty("No channels yet", "A channel delivers alerts to Slack, Telegram or your own service."),
            )
          : card(
              "Channels",
              html`<ul class="list">${channels.map((channel) => channelItem(visit, channel, rules))}</ul>`,
              html`<a href="${sectionAddress("rules")}">Choose which alerts are delivered</a>`,
            )
      }${formCard("Add a channel", addForms(visit))}`
    },
    forms: {
      slack: {
        audit: "channel add slack",
        async send({ workspaceId }, fields) {
          await addSlack(register, workspaceId, fields.get("url") ?? "")
          return { to: back, done: "added" }
        },
      },
      telegram: {
        audit: "channel add telegram",
        async send({ workspaceId }, fields) {
          const [token, chat] = [fields.get("token")?.trim() ?? "", fields.get("chat")?.trim() ?? ""]
          await addTelegram(register, workspaceId, { token, chat })
          return { to: back, done: "added" }
        },
      },
      webhook: {
        audit: "channel add webhook",
        async send({ workspaceId }, fields) {
          const { secret } = await addWebhook(register, workspaceId, fields.get("url") ?? "")
          return signingSecretPage("Webhook added", secret)
        },
      },
      test: {
        audit: null,
        limitMs: TEST_MS,
        async send({ workspaceId }, fields) {
          const { taken, failure } = await testChannel(register, parts, workspaceId, idIn(fields))
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
  const counts = [
    waiting > 0 && `${waiting} waiting`,
    undelivered > 0 && `${counted(undelivered, "alert")} not delivered`,
  ].filter((text) => text !== false)
  return html`<li><p><strong>${CHANNEL_NAMES[kind]}</strong> <span class="hash">${address}</span> ${tag}</p>
<p class="small">${used.length > 0 ? `Delivers: ${used.join(", ")}` : NO_RULE}</p>
<p class="small quiet">${lastOk ? html`Last delivery ${momentTime(lastOk.toISOString())}` : "Nothing delivered yet"}${
    failure && lastFailure && html` · failed ${momentTime(lastFailure.toISOString())}: ${failure}`
  }${counts.map((text) => ` · ${text}`)}</p>
<div class="buttons">${settingsForm(visit, { ...quiet, form: "test", button: "Send test message" })}${toggles[state]}${
    kind === "webhook" && settingsForm(visit, { ...quiet, form: "rotate", button: "New signing secret" })
  }${settingsForm(visit, { ...quiet, form: "remove", button: "Remove…" })}</div></li>
`
}

function addForms(visit: SettingsVisit): Html {
  const slack = settingsForm(visit, { form: "slack", button: "Add Slack channel" }, (form) =>
    secretField(form, SLACK_URL),
  )
  const telegram = settingsForm(visit, { form: "telegram", button: "Add Telegram chat" }, (form) => [
    secretField(form, BOT_TOKEN),
    textField(form, CHAT),
  ])
  const webhook = settingsForm(visit, { form: "webhook", button: "Add webhook" }, (form) =>
    textField(form, WEBHOOK_URL),
  )
  const forms = { slack, telegram, webhook }
  return html`${Object.entries(forms).map(
    ([kind, form]) => html`<details${visit.desk.refused?.id === kind && html` open=""`}><summary>${
      CHANNEL_NAMES[kind as Channel]
    }</summary>${form}</details>
`,
  )}`
}

const SLACK_URL = {
  name: "url",
  label: "Address of the incoming webhook",
  hint: "In Slack: Apps, Incoming Webhooks, Add to Slack. It begins with https://hooks.slack.com/.",
}
const BOT_TOKEN = { name: "token", label: "Token of your bot", hint: "From @BotFather, such as 123456789:AAE…" }
const CHAT = {
  name: "chat",
  label: "Chat",
  hint: "The number of the chat, or @name of a public channel.",
  isRequired: true,
}
const WEBHOOK_URL = {
  name: "url",
  label: "Address",
  hint: "Messages are signed as Standard Webhooks. The signing secret is shown once.",
  isRequired: true,
}

function signingSecretPage(title: string, secret: string): FormOutcome {
  const body = "Your receiver verifies messages with it. An earlier secret stays valid for 24 hours."
  return { page: secretPage(title, { secret, label: "Signing secret", body, back }) }
}

function removePage(visit: SettingsVisit, { id, kind, address, waiting }: ChannelRow) {
  const lost = waiting > 0 ? ` ${counted(waiting, "waiting alert")} will not be delivered.` : ""
  return confirmPage(visit, {
    title: `Remove this ${CHANNEL_NAMES[kind]} channel?`,
    body: html`Nothing is sent to <span class="hash">${address}</span> any more.${lost} This cannot be undone.`,
    form: "removed",
    of: id,
    button: "Remove channel",
    cancel: back,
  })
}
