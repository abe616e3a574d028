import { Buffer } from "node:buffer"
import * as nodeCrypto from "node:crypto"
import type { RandomBytes } from "../lib/text.ts"
import { createPasswordQueue } from "./password-queue.ts"

/** The most code points of a password. */
export const LONGEST_PASSWORD = 128

/** 1 to 128 code points that can be typed the same again. */
export function isUsablePassword(text: string): boolean {
  const length = [...text].length
  return length >= 1 && length <= LONGEST_PASSWORD && text.isWellFormed()
}

/** Argon2id of the NFC with 19 MiB, two passes and a salt of its own (OWASP's least). Throws unavailable. */
export async function hashPassword(
  password: string,
  randomBytes: RandomBytes = nodeCrypto.randomBytes,
): Promise<string> {
  const salt = new Uint8Array(randomBytes(SALT_BYTES))
  const tag = await making("", () => argon2id(password, { salt, ...COST }))
  return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=1$${written(salt)}$${written(tag)}`
}

/** Whether this is the password that was hashed. Throws unavailable when too many wait to try the same one. */
export async function isPassword(password: string, hashed: string): Promise<boolean> {
  const [, memory, passes, salt, tag] = PHC.exec(hashed) ?? []
  if (salt === undefined || tag === undefined) throw new Error("a stored password is no argon2id of ours")
  const cost = { salt: new Uint8Array(Buffer.from(salt, "base64")), memory: Number(memory), passes: Number(passes) }
  const own = await checking(hashed, () => argon2id(password, cost))
  return nodeCrypto.timingSafeEqual(own, Buffer.from(tag, "base64"))
}

// One takes 45 ms of a core and 19 MiB: a flood of tries must leave the machine to everybody else. Who makes a password does
// not wait behind those who try one, nor who tries one link's behind those who try another's.
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

/** Bun has it in node:crypto alone, Deno 2.9.6 in the Web Cryptography API alone; both work beside the event loop. */
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
