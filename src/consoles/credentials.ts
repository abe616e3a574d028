import type { Sealer } from "../access/sealed.ts"

/** What an account's console is asked with, by name: ids beside its one secret. Stored sealed, whole. */
export type AccountKey = Readonly<Record<string, string>>

/** What the console of the App Store is asked with. */
export type ConsoleKey = {
  issuer: string
  keyId: string
  /** The P8 file. */
  privateKey: string
}

/** What Apple Ads is asked with. */
export type AdsKey = {
  clientId: string
  teamId: string
  keyId: string
  /** PEM. */
  privateKey: string
}

/** What a billing service proves its messages by. */
export type WebhookKey = {
  secret: string
}

/** What a service is asked with that takes one secret text. */
export type ApiKey = {
  apiKey: string
}

/** Throws AccessProblem without SECRET_KEY. */
export async function sealKey(sealer: Sealer, account: string, key: AccountKey): Promise<string> {
  return await sealer.seal(JSON.stringify(key), placeOf(account))
}

/** Throws AccessProblem: no SECRET_KEY, another one, or a row that was changed. */
export async function openKey(sealer: Sealer, account: string, sealed: string): Promise<AccountKey> {
  return JSON.parse(await sealer.open(sealed, placeOf(account)))
}

function placeOf(row: string) {
  return { table: "connected_account", row }
}
