import type { Sealer } from "../access/sealed.ts"

/** The credentials of an account by name: its ids and its only secret. They are encrypted and stored as one text. */
export type AccountKey = Readonly<Record<string, string>>

/** Credentials for App Store Connect. */
export type ConsoleKey = {
  issuer: string
  keyId: string
  /** Content of the P8 file. */
  privateKey: string
}

/** Credentials for Apple Ads. */
export type AdsKey = {
  clientId: string
  teamId: string
  keyId: string
  /** PEM format. */
  privateKey: string
}

/** Credentials for Google Play Console. */
export type PlayKey = {
  /** The JSON file of a service account's key. */
  serviceAccount: string
}

/** The secret that a billing service uses to authenticate its messages. */
export type WebhookKey = {
  secret: string
}

/** Credentials for a service that takes a single API key. */
export type ApiKey = {
  apiKey: string
}

/** Encrypts the credentials. Throws AccessProblem when SECRET_KEY is not set. */
export async function sealKey(sealer: Sealer, account: string, key: AccountKey): Promise<string> {
  return await sealer.seal(JSON.stringify(key), placeOf(account))
}

/**
 * Decrypts the credentials. Throws AccessProblem when SECRET_KEY is missing or different, or when the row was modified.
 */
export async function openKey(sealer: Sealer, account: string, sealed: string): Promise<AccountKey> {
  return JSON.parse(await sealer.open(sealed, placeOf(account)))
}

function placeOf(row: string) {
  return { table: "connected_account", row }
}
