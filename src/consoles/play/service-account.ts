import { AccessProblem } from "../../access/problem.ts"
import { jsonOrNothing } from "../../measuring/parsing/json.ts"
import { rsaSigningKeyOf } from "../jwt.ts"

/** The parts of a service account's key that are used. Every URL in the file is ignored: Google's hosts are fixed. */
export interface ServiceAccount {
  email: string
  keyId: string
  /** PEM. */
  privateKey: string
}

/**
 * Reads the JSON file of a service account's key. Throws AccessProblem, whose message names the kind of file that was
 * given and where to create the right one, and contains nothing of the key.
 */
export function serviceAccountIn(text: string): ServiceAccount {
  const found = jsonOrNothing(text.replace(/^\uFEFF/, ""))
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw refused(notJson(text))
  const { type, client_email: email, private_key_id: keyId, private_key: privateKey } = found as Record<string, unknown>
  if (type !== "service_account") throw refused(otherFile(found as Record<string, unknown>))
  if (typeof email !== "string" || !/^[\w.-]{1,100}@[\w.-]{1,150}\.gserviceaccount\.com$/.test(email))
    throw refused("its client_email is not the address of a service account (…gserviceaccount.com)")
  if (typeof keyId !== "string" || !/^[\w-]{6,80}$/.test(keyId)) throw refused("it has no private_key_id")
  if (typeof privateKey !== "string" || !privateKey.includes("PRIVATE KEY")) throw refused("it has no private_key")
  if (!privateKey.includes("-----END"))
    throw refused("its private_key is cut off, because it has no END line: the file was not copied as a whole")
  return { email, keyId, privateKey }
}

/** Imports the private key. Throws AccessProblem when it is not an RSA key. */
export async function openServiceAccount({ privateKey }: ServiceAccount): Promise<CryptoKey> {
  const key = await rsaSigningKeyOf(privateKey)
  if (key === null) throw refused("its private_key is damaged: it is not an RSA key in PEM format")
  return key
}

function notJson(text: string): string {
  if (text.startsWith("AIza")) return "this is an API key, which gives access to no account"
  if (/^-----BEGIN [A-Z ]*PRIVATE KEY/.test(text)) return "this is the private key alone, without the rest of the file"
  if (text.startsWith("{")) return "this JSON is cut off or damaged"
  return "this is not JSON; the P12 format is not supported"
}

function otherFile({ type, installed, web }: Record<string, unknown>): string {
  if (installed !== undefined || web !== undefined) return "this is an OAuth client, which acts for a person"
  if (type === "authorized_user") return "these are the credentials of a person, as gcloud stores them"
  if (type === "external_account") return "this configures workload identity federation, which is not supported"
  return 'its type is not "service_account"'
}

function refused(what: string): AccessProblem {
  return new AccessProblem(`${what}. ${HOW}`, "serviceAccount")
}

const HOW = "Use the JSON key of a service account: Google Cloud, IAM & Admin, Service Accounts, Keys, Add key, JSON"
