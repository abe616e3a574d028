import { confirmMailAddress, readMailAddress, removeMailAddress } from "../../access/people/mail-addresses.ts"
import type { Sql } from "../../database/types.ts"
import type { Mailer } from "../../outbound/mail/smtp.ts"
import { card, empty } from "../../ui/app/parts.ts"
import {
  formCard,
  type SettingsSection,
  type SettingsVisit,
  sectionAddress,
  settingsForm,
} from "../../ui/app/settings.ts"
import { FormProblem, selectField, textField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { mailCode, mailTest } from "../digest/letters.ts"
import type { Schedule } from "../digest/period.ts"
import {
  type DigestMail,
  endDigest,
  parseSchedule,
  readLastDigest,
  readSchedule,
  setSchedule,
} from "../digest/preferences.ts"

interface MailParts {
  sql: Sql
  /** Null if the operator set up no mail server. */
  mailer: Mailer | null
}

const PATH = "mail"
const back = sectionAddress(PATH)
const SEND_MS = 60_000

/** Declares the section of the person's own mail: their address, and when they get a summary of this workspace. */
export function mailSection({ sql, mailer }: MailParts): SettingsSection {
  const mailerOr = () => {
    if (mailer) return mailer
    throw new FormProblem({ "": "This server sends no mail. Its operator can set SMTP_URL and MAIL_FROM." })
  }
  return {
    name: "Mail",
    about: "Get a summary of your apps by mail, daily or weekly.",
    path: PATH,
    needs: null,
    notices: {
      mailed: "A code was mailed to you. Type it here.",
      confirmed: "The address is confirmed. Choose when you get a summary.",
      removed: "Your address is removed. You get no more mail.",
      set: "Your summaries are set.",
      off: "You get no summaries by mail.",
      tested: "The mail server accepted the test message.",
    },
    async show(visit) {
      if (!mailer) return card("Mail", empty("This server sends no mail", NO_MAILER))
      const { personId } = visit.person
      const { address, pending, refused, refusedAt } = await readMailAddress(sql, personId)
      const subscription = { personId, workspaceId: visit.workspaceId }
      const schedule = await readSchedule(sql, subscription)
      const last = await readLastDigest(sql, subscription)
      const summaries =
        address !== null &&
        formCard("Summaries of this workspace", scheduleForm(visit, schedule), last && lastPart(last))
      return html`${formCard(
        "Your address",
        address !== null && addressPart(visit, address),
        refused && refusedAt && refusedPart(refused, refusedAt),
        pending === null ? addressForm(visit, address) : codeForm(visit, pending),
      )}${summaries}`
    },
    forms: {
      address: {
        audit: "mail address",
        limitMs: SEND_MS,
        async send({ person, publicUrl }, fields) {
          await mailCode({ sql, mailer: mailerOr(), publicUrl }, person, fields.get("address") ?? "")
          return { to: back, done: "mailed" }
        },
      },
      confirm: {
        audit: "mail confirm",
        async send({ person }, fields) {
          await confirmMailAddress(sql, person.personId, fields.get("code") ?? "")
          return { to: back, done: "confirmed" }
        },
      },
      remove: {
        audit: "mail remove",
        async send({ person }) {
          await removeMailAddress(sql, person.personId)
          return { to: back, done: "removed" }
        },
      },
      schedule: {
        audit: "mail digest",
        async send({ person: { personId }, workspaceId }, fields) {
          const [every = "", hour = "", zone = ""] = ["every", "hour", "zone"].map((name) => fields.get(name)?.trim())
          if (every === "off") {
            await endDigest(sql, { personId, workspaceId })
            return { to: back, done: "off" }
          }
          await setSchedule(sql, { personId, workspaceId }, parseSchedule({ every, hour, zone }))
          return { to: back, done: "set" }
        },
      },
      test: {
        audit: null,
        limitMs: SEND_MS,
        async send({ person, publicUrl }) {
          await mailTest({ sql, mailer: mailerOr(), publicUrl }, person)
          return { to: back, done: "tested" }
        },
      },
    },
  }
}

const NO_MAILER = html`Once the operator has set <span class="hash">SMTP_URL</span> and
<span class="hash">MAIL_FROM</span>, you can get a summary of your apps here each day or week.`

function addressPart(visit: SettingsVisit, address: string): Html {
  return html`<p>Mail goes to <strong><bdi>${address}</bdi></strong>.</p>
<div class="buttons">${settingsForm(visit, { form: "test", button: "Send test message", tone: "quiet" })}${settingsForm(
    visit,
    { form: "remove", button: "Remove address", tone: "quiet" },
  )}</div>
`
}

function refusedPart(refused: string, at: Date): Html {
  return html`<p class="notice warn" role="status">The mail server refused this address
${momentTime(at.toISOString())} (${refused}). Nothing is sent there until a test message is accepted.</p>
`
}

function addressForm(visit: SettingsVisit, address: string | null): Html {
  const button = address === null ? "Mail me a code" : "Mail a code to another address"
  return settingsForm(visit, { form: "address", button }, (form) =>
    textField(form, {
      name: "address",
      label: address === null ? "Mail address" : "Another address",
      type: "email",
      autocomplete: "email",
      maxLength: 254,
      hint: "Nothing but the code is sent there until you type it here.",
      isRequired: true,
    }),
  )
}

function codeForm(visit: SettingsVisit, pending: string): Html {
  const confirm = settingsForm(visit, { form: "confirm", button: "Confirm address" }, (form) =>
    textField(form, {
      name: "code",
      label: "Code",
      autocomplete: "one-time-code",
      maxLength: 20,
      hint: `Mailed to ${pending}, valid for an hour.`,
      isRequired: true,
    }),
  )
  return html`${confirm}<details><summary>Use another address</summary>${addressForm(visit, null)}</details>
`
}

const HOURS = Array.from({ length: 24 }, (_, hour) => [String(hour), `${String(hour).padStart(2, "0")}:00`] as const)

function scheduleForm(visit: SettingsVisit, schedule: Schedule | null): Html {
  return settingsForm(visit, { form: "schedule", button: "Save" }, (form) => [
    selectField(form, {
      name: "every",
      label: "How often",
      value: schedule?.every ?? "off",
      options: [
        ["off", "Off"],
        ["day", "Every day, about the day before"],
        ["week", "Every Monday, about the week before"],
      ],
      hint: "What moved, why, reviews, money if you may see it, and what to do.",
    }),
    selectField(form, { name: "hour", label: "At", value: String(schedule?.hour ?? 8), options: HOURS }),
    textField(form, {
      name: "zone",
      label: "Time zone",
      value: schedule?.zone ?? "UTC",
      maxLength: 64,
      hint: "For example Europe/Berlin. The weekly mail is never sent before 09:00 UTC on Monday.",
      isRequired: true,
    }),
  ])
}

const STATES: Record<DigestMail["state"], string> = {
  writing: "is being written",
  sending: "is being sent",
  sent: "was sent",
  skipped: "was not sent",
  failed: "was not delivered",
  unknown: "may have been sent",
}

function lastPart({ every, day, state, failure, at }: DigestMail): Html {
  const about = every === "day" ? `The summary of ${day}` : `The summary of the week to ${day}`
  return html`<p class="small quiet">${about} ${STATES[state]} ${momentTime(at.toISOString())}${
    failure && `: ${failure}`
  }.</p>
`
}
