import type { Sealer } from "../access/sealed.ts"

/** What the console of the App Store is asked with. */
export interface ConsoleKey {
  issuer: string
  keyId: string
  /** The P8 file. */
  privateKey: string
}

/** Throws AccessProblem without SECRET_KEY. */
export async function sealKey(sealer: Sealer, account: string, key: ConsoleKey): Promise<string> {
  return await sealer.seal(JSON.stringify(key), placeOf(account))
}

/** Throws AccessProblem: no SECRET_KEY, another one, or a row that was changed. */
export async function openKey(sealer: Sealer, account: string, sealed: string): Promise<ConsoleKey> {
  return JSON.parse(await sealer.open(sealed, placeOf(account)))
}

function placeOf(row: string) {
  return { table: "connected_account", row }
}
