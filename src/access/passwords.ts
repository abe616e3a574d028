import { Buffer } from "node:buffer"
import * as nodeCrypto from "node:crypto"
import type { RandomBytes } from "../lib/text.ts"
import { createPasswordQueue } from "./password-queue.ts"

/** Maximum number of code points in a password. */
export const LONGEST_PASSWORD = 128

/** 1 to 128 code points that form valid Unicode. */
export function isUsablePassword(text: string): boolean {
  const length = [...text].length
  return length >= 1 && length <= LONGEST_PASSWORD && text.isWellFormed()
}

/** Hashes the NFC with Argon2id: 19 MiB, two passes and a new salt (the minimum of OWASP). Throws unavailable. */
export async function hashPassword(
  password: string,
  randomBytes: RandomBytes = nodeCrypto.randomBytes,
): Promise<string> {
  const salt = new Uint8Array(randomBytes(SALT_BYTES))
  const tag = await making("", () => argon2id(password, { salt, ...COST }))
  return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=1$${written(salt)}$${written(tag)}`
}

/** Whether the password matches the hash. Throws unavailable when too many attempts at the same hash are waiting. */
export async function isPassword(password: string, hashed: string): Promise<boolean> {
  const [, memory, passes, salt, tag] = PHC.exec(hashed) ?? []
  if (salt === undefined || tag === undefined)
    throw new Error("a stored password is not an argon2id hash of this program")
  const cost = { salt: new Uint8Array(Buffer.from(salt, "base64")), memory: Number(memory), passes: Number(passes) }
  const computed = await checking(hashed, () => argon2id(password, cost))
  return nodeCrypto.timingSafeEqual(computed, Buffer.from(tag, "base64"))
}

// A hash takes 45 ms of a core and 19 MiB, so a flood of attempts must not occupy the machine. Setting a password does
// not wait for attempts to guess one, and attempts at one share link do not wait for attempts at another.
const making = createPasswordQueue({ atOnce: 2, waitingPerKey: 40 })
const checking = createPasswordQueue({ atOnce: 2, waitingPerKey: 8 })

const COST = { memory: 19_456, passes: 2 }
const SALT_BYTES = 16
const TAG_BYTES = 32
const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$([\w+/]+)\$([\w+/]{43})$/

interface Cost {
  salt: Uint8Array<ArrayBuffer>
  /** KiB. */
  memory: number
  passes: number
}

/** Bun has Argon2 only in node:crypto, Deno 2.9.6 only in the Web Cryptography API. Both run off the event loop. */
async function argon2id(password: string, { salt: nonce, memory, passes }: Cost): Promise<Uint8Array> {
  const message = new TextEncoder().encode(password.normalize("NFC"))
  const { argon2 }: Partial<typeof nodeCrypto> = nodeCrypto
  const cost = { nonce, parallelism: 1, memory, passes }
  if (!argon2) {
    const { subtle } = nodeCrypto.webcrypto
    const key = await subtle.importKey("raw-secret", message, "Argon2id", false, ["deriveBits"])
    return new Uint8Array(await subtle.deriveBits({ name: "Argon2id", ...cost }, key, TAG_BYTES * 8))
  }
  return await new Promise((resolve, reject) =>
    argon2("argon2id", { message, ...cost, tagLength: TAG_BYTES }, (error, tag) =>
      error ? reject(error) : resolve(tag),
    ),
  )
}

function written(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("=", "")
}
