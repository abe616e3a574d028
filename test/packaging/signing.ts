import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Names a file with an Ed25519 private key in PEM. The key must not be an argument: other users could see it. */
export const KEY_VARIABLE = "APPMETER_RELEASE_KEY_FILE"

/**
 * Reads the release key. Null if the environment names none, because anybody may build. Throws if the key is unusable.
 */
export function releaseKey(env: Record<string, string | undefined>): KeyObject | null {
  const file = env[KEY_VARIABLE]?.trim()
  if (!file) return null
  const key = createPrivateKey(readFileSync(file))
  if (key.asymmetricKeyType === "ed25519") return key
  throw new Error(`${KEY_VARIABLE} must name an Ed25519 key; create one with: openssl genpkey -algorithm ed25519`)
}

/**
 * Signs a file: FILE.sig contains the 64 bytes of its Ed25519 signature, appmeter.pub the public key. OpenSSL 3
 * verifies them with pkeyutl -verify -rawin. The same key and file give the same signature.
 */
export function signFile(folder: string, name: string, key: KeyObject): string[] {
  writeFileSync(join(folder, `${name}.sig`), sign(null, readFileSync(join(folder, name)), key))
  writeFileSync(join(folder, "appmeter.pub"), createPublicKey(key).export({ type: "spki", format: "pem" }))
  return [`${name}.sig`, "appmeter.pub"]
}
