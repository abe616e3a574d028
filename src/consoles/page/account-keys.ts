import type { Sealer } from "../../access/sealed.ts"
import { ownValue } from "../../lib/objects.ts"
import { formCard, type SettingsVisit, secretField, settingsForm } from "../../ui/app/settings.ts"
import { FormProblem, type FormState, fileField, textField } from "../../ui/fields.ts"
import { type Html, type HtmlPart, html } from "../../ui/html.ts"
import type { AnyAccountKind } from "../account-kind.ts"
import type { AccountKey } from "../credentials.ts"

/** Carries a key, or a part of it, encrypted through a form, so that it is sent only once. */
export const SEALED_KEY = "sealedKey"
const PUBLIC_KEY = "publicKey"

interface KeyForm {
  visit: SettingsVisit
  kind: AnyAccountKind
  fields: URLSearchParams
}

export async function sealForForm(sealer: Sealer, { visit, kind }: Omit<KeyForm, "fields">, key: AccountKey) {
  return await sealer.seal(JSON.stringify(key), placeOf(visit, kind))
}

/**
 * Returns the context to which the encryption is bound, so that only forms of the same workspace and type of account
 * can use the key.
 */
function placeOf({ workspaceId }: SettingsVisit, { name }: AnyAccountKind) {
  return { table: "account form", row: `${workspaceId} ${name}` }
}

/** Reads the key of a form: from its fields, and from the encrypted part that the form carries. Throws FormProblem. */
export async function keyOf(sealer: Sealer, form: KeyForm, fresh?: "fresh"): Promise<AccountKey> {
  const sealed = form.fields.get(SEALED_KEY)
  const carried: AccountKey =
    sealed === null ? {} : JSON.parse(await sealer.open(sealed, placeOf(form.visit, form.kind)))
  return keyIn(form.kind, form.fields, { ...(fresh && { fresh }), carried })
}

interface KeyOptions {
  /** Limits the fields to those that a new key of an existing account changes. */
  fresh?: "fresh"
  carried?: AccountKey
}

/** Reads a key from its fields. A file takes precedence over a pasted text. */
export function keyIn(
  { ids, secret }: AnyAccountKind,
  fields: URLSearchParams,
  { fresh, carried = {} }: KeyOptions = {},
): AccountKey {
  const names = Object.keys(ids).filter((name) => !fresh || ids[name]?.fresh)
  const typed = Object.fromEntries(names.map((name) => [name, fields.get(name)?.trim() ?? ""]))
  if (secret) typed[secret.name] = (fields.get(fileName(secret.name)) || fields.get(secret.name) || "").trim()
  const key: AccountKey = { ...typed, ...carried }
  const missing = Object.keys(key).filter((name) => key[name] === "")
  if (missing.length === 0) return key
  throw new FormProblem(Object.fromEntries(missing.map((name) => [name, "This field is needed."])))
}

export const fileName = (secret: string) => `${secret}File`

/** Returns the fields of a key. If a key pair was created on the page, no file is needed. */
export function keyFields(form: FormState, { ids, secret }: AnyAccountKind, fresh?: "fresh"): HtmlPart {
  const names = Object.keys(ids).filter((name) => !fresh || ids[name]?.fresh)
  const isRequired = fresh === undefined
  const idFields = names.map((name) =>
    textField(form, { name, label: labelOf(name), hint: ids[name]!.meaning, isRequired }),
  )
  if (!secret) return idFields
  const pair = createdPair(form)
  if (pair) return [pair, ...idFields]
  const { name, meaning: hint } = secret
  const label = `${labelOf(name)}, as a file`
  const file = fileField(form, { name: fileName(name), label, accept: ".p8,.pem,.txt,.key,.json", hint })
  return [...idFields, file, secretField(form, { name, label: "Or pasted" })]
}

/** Returns the public key to upload, and the encrypted private key. False if no pair was created. */
function createdPair({ id, values }: FormState): Html | false {
  const [publicKey, sealedKey] = [values?.get(PUBLIC_KEY), values?.get(SEALED_KEY)]
  if (!publicKey || !sealedKey) return false
  const field = `${id}-${PUBLIC_KEY}`
  return html`<div class="field grow"><label for="${field}">Public key</label>
<textarea class="hash" id="${field}" name="${PUBLIC_KEY}" rows="5" readonly="" aria-describedby="${field}-hint">
${publicKey}</textarea><p class="hint" id="${field}-hint">${HAND_IN}</p></div>
<input type="hidden" name="${SEALED_KEY}" value="${sealedKey}">`
}

const HAND_IN =
  "Sign in to Apple Ads as the API user and paste this key under Account Settings, API. Apple Ads then shows the " +
  "ids. Keep this page open: the private key is stored when you send the form."

/** Returns the form that creates a key pair, for a console that takes a public key. */
export function keyPairForm(visit: SettingsVisit, kind: AnyAccountKind, of?: string): Html | false {
  if (!kind.createKeyPair) return false
  const options = { form: "keygen", fixed: { kind: kind.name }, button: "Create key pair", ...(of && { of }) }
  const text = `${kind.title} takes a public key. Create a key pair here; its private key is never shown.`
  return formCard("No key yet?", html`<p>${text}</p>`, settingsForm(visit, options))
}

/** Returns the visit with a form that contains a new key pair. */
export async function withKeyPair(
  sealer: Sealer,
  visit: SettingsVisit,
  { kind, form }: { kind: AnyAccountKind; form: string },
): Promise<SettingsVisit> {
  if (!kind.createKeyPair || !kind.secret) throw new FormProblem({ "": "This type of account takes no key pair." })
  const { publicKey, privateKey } = kind.createKeyPair()
  const sealedKey = await sealForForm(sealer, { visit, kind }, { [kind.secret.name]: privateKey })
  const values = new URLSearchParams({ [PUBLIC_KEY]: publicKey.trim(), [SEALED_KEY]: sealedKey })
  return { ...visit, context: { ...visit.context, refused: { id: form, values, errors: {}, message: "" } } }
}

const LABELS: Record<string, string> = {
  issuer: "Issuer ID",
  keyId: "Key ID",
  clientId: "Client ID",
  teamId: "Team ID",
  privateKey: "Private key",
  apiKey: "API key",
  secret: "Secret",
  serviceAccount: "Service account key",
}
const labelOf = (name: string) => ownValue(LABELS, name) ?? sentenceCase(name)

export function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
