import { Buffer } from "node:buffer"
import { createHash, randomBytes as secureBytes } from "node:crypto"
import type { RandomBytes } from "../lib/text.ts"
import { AccessProblem } from "./problem.ts"

/** The place where an encrypted text is stored. A text that was moved to another row cannot be decrypted. */
export interface Place {
  table: string
  row: string
}

/**
 * Encrypts with AES-256-GCM, so that read access to the database alone does not reveal the text. Format:
 * "v1.KEY.NONCE.TEXT", each part base64url. Version, key, table and row are authenticated data.
 */
export interface Sealer {
  /** Throws AccessProblem without SECRET_KEY. */
  seal(text: string, place: Place): Promise<string>
  /** Throws AccessProblem when the text was changed, belongs to another row, or its key is unknown. */
  open(sealed: string, place: Place): Promise<string>
  /**
   * Whether an earlier key encrypted the text. Once all such texts are encrypted again, the earlier key can be removed.
   */
  isOld(sealed: string): boolean
}

/**
 * The key in SECRET_KEY and the earlier keys. The field is private, so that no log and no dump of settings contains
 * them.
 */
export class SecretKeys {
  readonly #keys: Uint8Array<ArrayBuffer>[]

  /** Newest first, each in a format of `secretKeyOf`. */
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

/**
 * Decodes the 32 bytes of a key in base64 (also base64url) or hex. Null if the text is not a key, or is too uniform to
 * be random.
 */
export function secretKeyOf(text: string): Uint8Array<ArrayBuffer> | null {
  const encoding = /^[0-9a-f]{64}$/i.test(text) ? "hex" : /^[\w+/-]{43}=?$/.test(text) ? "base64" : null
  const bytes = encoding && new Uint8Array(Buffer.from(text, encoding))
  return bytes?.length === 32 && new Set(bytes).size >= MIN_DISTINCT ? bytes : null
}

// The chance that 32 random bytes have fewer distinct values than this is below 1e-20.
const MIN_DISTINCT = 12

/**
 * Creates a sealer for these keys. With null, every call of `seal` and `open` throws an AccessProblem that says how to
 * create a key.
 */
export async function createSealer(keys: SecretKeys | null, randomBytes: RandomBytes = secureBytes): Promise<Sealer> {
  const identifiedKeys = keys ? await Promise.all(SecretKeys.read(keys).map(knownKey)) : []
  const [newest] = identifiedKeys
  const keyOf = (id: string) => identifiedKeys.find((key) => key.id === id)
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
      const matching = keyOf(id)
      if (!matching) throw new AccessProblem(UNKNOWN)
      const opening = { name: "AES-GCM", iv, additionalData: bound(id, place) }
      const text = await crypto.subtle.decrypt(opening, matching.key, data).catch(() => null)
      if (!text) throw new AccessProblem(BROKEN)
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(text)
    },
    isOld: (sealed) => sealed.split(".")[1] !== newest?.id,
  }
}

const VERSION = "v1"
const NONCE_BYTES = 12
const MISSING =
  "this needs SECRET_KEY, which is not set; make one with: head -c 32 /dev/urandom | base64, and store it apart " +
  "from the database's backups"
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

/** Returns the authenticated data as JSON, so that the names of table and row cannot be confused when joined. */
function bound(keyId: string, { table, row }: Place): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify([VERSION, keyId, table, row]))
}

function written(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url")
}

/** Rejects other spellings: the last character has unused bits, which could be changed unnoticed. */
function read(text: string | undefined): Uint8Array<ArrayBuffer> | null {
  if (text === undefined) return null
  const bytes = new Uint8Array(Buffer.from(text, "base64url"))
  return written(bytes) === text ? bytes : null
}
