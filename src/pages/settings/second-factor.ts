import type { People } from "../../access/sign-in/person.ts"
import {
  beginSecondFactor,
  confirmSecondFactor,
  type FactorParts,
  type FactorSetup,
  readFactorSetup,
  readSecondFactor,
  removeSecondFactor,
} from "../../access/sign-in/second-factor.ts"
import type { Page } from "../../ui/app/context.ts"
import { formCard, type SettingsSection, type SettingsVisit, settingsForm } from "../../ui/app/settings.ts"
import { FormProblem, type FormState, textField, usernameField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { problemText } from "../../ui/proof-page.ts"
import { qrCode } from "../../ui/qr.ts"
import { momentTime } from "../../ui/times.ts"
import { counted } from "../../ui/words.ts"

export interface FactorSectionParts extends FactorParts {
  people: Pick<People, "prove">
}

/** The part of the profile about the second factor. */
export async function secondFactorCard(parts: FactorSectionParts, visit: SettingsVisit): Promise<Html> {
  const { personId, person, hasPassphrase, isProved } = visit.person
  const factor = await readSecondFactor(parts.sql, personId)
  if (factor?.confirmedAt) return onCard(visit, factor.confirmedAt, factor.recoveryCodesLeft)
  // Shows the secret only after the passphrase was entered, so that nobody else copies it from an open browser.
  const setup = factor && isProved ? await readFactorSetup(parts, visit.person) : null
  if (setup) return setupCard(visit, setup)
  const begin = settingsForm(visit, { form: "begin-factor", button: "Set up" }, (form) =>
    factorFields(form, { person, hasCode: false }),
  )
  return formCard(
    "Second factor",
    html`<p>With a second factor the sign-in also asks for a code of an app on your phone, so that a passphrase alone
opens nothing.</p>`,
    hasPassphrase ? begin : html`<p class="quiet">Set a passphrase first.</p>`,
  )
}

/** The forms of the profile about the second factor. */
export function secondFactorForms(parts: FactorSectionParts, back: string): SettingsSection["forms"] {
  return {
    "begin-factor": {
      audit: "person second-factor",
      async send(visit, fields) {
        await proveInForm(parts, visit, fields)
        await beginSecondFactor(parts, visit.person.personId)
        return { to: back, done: "begun" }
      },
    },
    "confirm-factor": {
      audit: "person second-factor",
      async send({ person }, fields) {
        const codes = await confirmSecondFactor(parts, person, fields.get("code") ?? "")
        if (!codes) throw new FormProblem({ code: "This is not the code that the app shows now." })
        return { page: recoveryPage(codes, back) }
      },
    },
    "end-factor": {
      audit: "person second-factor --off",
      async send(visit, fields) {
        await proveInForm(parts, visit, fields)
        await removeSecondFactor(parts.sql, visit.person.personId)
        return { to: back, done: "off" }
      },
    },
  }
}

/** Throws FormProblem unless the fields of `factorFields` are right. */
export async function proveInForm(
  { people }: Pick<FactorSectionParts, "people">,
  { person, from }: SettingsVisit,
  fields: URLSearchParams,
): Promise<void> {
  const proof = { typed: fields.get("current") ?? "", code: fields.get("code") ?? "", address: from }
  const problem = await people.prove(person, proof)
  if (problem === "wrong") throw new FormProblem({ current: "This is not your passphrase." })
  if (problem) throw new FormProblem({ [problem === "wrong code" ? "code" : "current"]: problemText(problem, "") })
}

/** Asks for the passphrase, and for a code if the person has a second factor. */
export function factorFields(form: FormState, { person, hasCode }: { person: string; hasCode: boolean }): Html {
  const current = { name: "current", label: "Current passphrase", autocomplete: "current-password", isRequired: true }
  const passphrase = textField(form, { ...current, type: "password" })
  return html`${usernameField(person)}${passphrase}${hasCode && codeField(form)}`
}

function codeField(form: FormState, hint = "Of your authenticator app, or a recovery code."): Html {
  return textField(form, { name: "code", label: "Code", hint, autocomplete: "one-time-code", isRequired: true })
}

function setupCard(visit: SettingsVisit, { address, secret }: FactorSetup): Html {
  const groups = secret.replaceAll(/.{4}(?=.)/g, "$& ")
  return formCard(
    "Second factor",
    html`<p>Scan this picture with an authenticator app, <a href="${address}">open it in an app on this device</a>, or
type the secret: <code>${groups}</code></p>
${qrCode(address, "QR code with the secret for an authenticator app")}`,
    settingsForm(visit, { form: "confirm-factor", button: "Turn on", tone: "main" }, (form) =>
      codeField(form, "The six digits that the app shows. Your other sessions end."),
    ),
  )
}

function onCard(visit: SettingsVisit, since: Date, codesLeft: number): Html {
  const left = codesLeft === 0 ? "no recovery code is left" : `${counted(codesLeft, "recovery code")} left`
  return formCard(
    "Second factor",
    html`<p>On since ${momentTime(since.toISOString())}, ${left}. For a new phone or new recovery codes, turn it off and
on again.</p>`,
    settingsForm(visit, { form: "end-factor", button: "Turn off" }, (form) =>
      factorFields(form, { person: visit.person.person, hasCode: true }),
    ),
  )
}

function recoveryPage(codes: readonly string[], back: string): Page {
  return {
    title: "The second factor is on",
    at: "/settings",
    body: html`<section class="card"><div class="inside"><p><strong>Save these recovery codes now: they are not shown
again.</strong></p>
<p>Without your phone, each signs you in once instead of the app's code.</p>
<ol class="codes hash">${codes.map((code) => html`<li>${code}</li>`)}</ol>
<p><a class="button main" href="${back}">I have saved them</a></p></div></section>
`,
  }
}
