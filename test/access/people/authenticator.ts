import { createHmac } from "node:crypto"

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

/** Returns the code that an authenticator app shows (RFC 6238). `later` is a number of 30-second steps from now. */
export function codeOf(secret: string, later = 0): string {
  const bits = [...secret.replaceAll(" ", "")].map((letter) => LETTERS.indexOf(letter).toString(2).padStart(5, "0"))
  const bytes = bits.join("").match(/.{8}/g) ?? []
  const key = Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + later))
  const mac = createHmac("sha1", key).update(counter).digest()
  const at = mac[19]! & 15
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, "0")
}
