import { Buffer } from "node:buffer"
import { createHash, randomBytes as secureBytes } from "node:crypto"
import type { RandomBytes } from "../lib/text.ts"
import { AccessProblem } from "./problem.ts"

/** Where a sealed text is stored: taken from there to another row, it cannot be opened. */
export interface Place {
  table: string
  row: string
}

/**
 * AES-256-GCM: what is stored is of no use to a reader of the database alone. "v1.KEY.NONCE.TEXT", each part base64url;
 * version, key, table and row are bound to it.
 */
export interface Sealer {
  /** Throws AccessProblem without SECRET_KEY. */
  seal(text: string, place: Place): Promise<string>
  /** Throws AccessProblem when it was changed, belongs elsewhere, or its key is not known. */
  open(sealed: string, place: Place): Promise<string>
  /** Whether an earlier key sealed it: once all of those are sealed again, that key can go. */
  isOld(sealed: string): boolean
}

/** SECRET_KEY and those before it. Not readable from outside, so that no log and no dump of settings shows them. */
export class SecretKeys {
  readonly #keys: Uint8Array<ArrayBuffer>[]

  /** Newest first, each as `secretKeyOf` takes it. */
  constructor(texts: readonly string[]) {
    this.#keys = texts.map((text) => {
      const key = secretKeyOf(text)
      if (!key) throw new AccessProblem("a secret key must be 32 random bytes, as base64 or hex")
      return key
    })
  }

  static hasEarlier(keys: SecretKeys): boolean {
    return keys.#keys.length > 1
  }

  static read(keys: SecretKeys): readonly Uint8Array<ArrayBuffer>[] {
    return keys.#keys
  }
}

/** The 32 bytes of a key as base64 (also base64url) or hex; null when it is none, or so uniform that it was not drawn. */
export function secretKeyOf(text: string): Uint8Array<ArrayBuffer> | null {
  const encoding = /^[0-9a-f]{64}$/i.test(text) ? "hex" : /^[\w+/-]{43}=?$/.test(text) ? "base64" : null
  const bytes = encoding && new Uint8Array(Buffer.from(text, encoding))
  return bytes?.length === 32 && new Set(bytes).size >= LEAST_DISTINCT ? bytes : null
}

// 32 random bytes hold fewer than this with a chance below 1e-20
const LEAST_DISTINCT = 12

/** The sealer of these keys; with null it says with every call what is missing. */
export async function createSealer(keys: SecretKeys | null, randomBytes: RandomBytes = secureBytes): Promise<Sealer> {
  const known = keys ? await Promise.all(SecretKeys.read(keys).map(knownKey)) : []
  const [newest] = known
  const keyOf = (id: string) => known.find((key) => key.id === id)
  return {
    async seal(text, place) {
      if (!newest) throw new AccessProblem(MISSING)
      const nonce = new Uint8Array(randomBytes(NONCE_BYTES))
      const sealing = { name: "AES-GCM", iv: nonce, additionalData: bound(newest.id, place) }
      const bytes = await crypto.subtle.encrypt(sealing, newest.key, new TextEncoder().encode(text))
      return [VERSION, newest.id, written(nonce), written(new Uint8Array(bytes))].join(".")
    },
    async open(sealed, place) {
      if (!newest) throw new AccessProblem(MISSING)
      const [version, id = "", nonce, bytes, ...more] = sealed.split(".")
      const iv = read(nonce)
      const data = read(bytes)
      if (version !== VERSION || iv?.length !== NONCE_BYTES || !data || more.length > 0) throw new AccessProblem(BROKEN)
      const own = keyOf(id)
      if (!own) throw new AccessProblem(UNKNOWN)
      const opening = { name: "AES-GCM", iv, additionalData: bound(id, place) }
      const text = await crypto.subtle.decrypt(opening, own.key, data).catch(() => null)
      if (!text) throw new AccessProblem(BROKEN)
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(text)
    },
    isOld: (sealed) => sealed.split(".")[1] !== newest?.id,
  }
}

const VERSION = "v1"
const NONCE_BYTES = 12
const MISSING =
  "this needs SECRET_KEY, which is not set; make one with: head -c 32 /dev/urandom | base64, and keep it where the database's backups are not"
const BROKEN = "a stored secret cannot be opened: it was changed, or belongs to another row"
const UNKNOWN = "a stored secret was sealed with a key that is neither SECRET_KEY nor in SECRET_KEY_PREVIOUS"

interface KnownKey {
  id: string
  key: CryptoKey
}

async function knownKey(bytes: Uint8Array<ArrayBuffer>): Promise<KnownKey> {
  const digest = createHash("sha256").update("appmeter secret key").update(bytes).digest()
  const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"])
  return { id: written(digest.subarray(0, 6)), key }
}

/** As JSON: two names never run into each other. */
function bound(keyId: string, { table, row }: Place): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify([VERSION, keyId, table, row]))
}

function written(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url")
}

/** Only as it was written: the last character has bits that say nothing, and could be changed unnoticed. */
function read(text: string | undefined): Uint8Array<ArrayBuffer> | null {
  if (text === undefined) return null
  const bytes = new Uint8Array(Buffer.from(text, "base64url"))
  return written(bytes) === text ? bytes : null
}
