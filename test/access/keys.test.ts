import { expect, test } from "bun:test"
import { createHash, randomBytes } from "node:crypto"
import { crc32 } from "node:zlib"
import { keyDigest, keyHint, makeKey, parseKey } from "../../src/access/keys.ts"
import { redact } from "../../src/lib/log.ts"
import { cases } from "../long.ts"

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

test("the checksum is the standard CRC32", () => {
  expect(crc32("123456789")).toBe(0xcbf43926)
  // 30 times "0" after the prefix, with the CRC32 in base62 calculated by hand.
  const key = makeKey("live", (size) => new Uint8Array(size))
  const body = `svc_live_${"0".repeat(30)}`
  let crc = BigInt(crc32(body))
  let text = ""
  for (; crc > 0n; crc /= 62n) text = ALPHABET[Number(crc % 62n)] + text
  expect(key).toBe(body + text.padStart(6, "0"))
})

const KEYS = cases(10_000, 100_000)

test(`${KEYS} generated keys have the right form, can be parsed and never repeat`, () => {
  const keys = new Set<string>()
  for (let n = 0; n < KEYS; n++) {
    const kind = n % 2 ? "live" : "test"
    const key = makeKey(kind, randomBytes)
    if (!/^svc_(live|test)_[0-9A-Za-z]{36}$/.test(key) || parseKey(key) !== kind) throw new Error("a misshapen key")
    keys.add(key)
  }
  expect(keys.size).toBe(KEYS)
})

test("the characters of keys are uniformly distributed", () => {
  const counts = new Map<string, number>()
  const KEYS = 20_000
  for (let n = 0; n < KEYS; n++) {
    for (const character of makeKey("live", randomBytes).slice(9, 39)) {
      counts.set(character, (counts.get(character) ?? 0) + 1)
    }
  }
  const mean = (KEYS * 30) / 62
  let chiSquare = 0
  for (const character of ALPHABET) chiSquare += ((counts.get(character) ?? 0) - mean) ** 2 / mean
  // The test has 61 degrees of freedom: the statistic is above 140 once in 10^7 runs. Taking bytes modulo 62 without
  // rejection gives about 4,000.
  expect(chiSquare).toBeLessThan(140)
})

test("random bytes above the last multiple of 62 are discarded and drawn again", () => {
  const draws = [new Uint8Array(30).fill(255), new Uint8Array(30).fill(248), new Uint8Array(30).fill(247)]
  expect(makeKey("live", () => draws.shift()!).slice(9, 39)).toBe("z".repeat(30))
})

test("changing any one character breaks the checksum", () => {
  const key = makeKey("live", randomBytes)
  for (let place = 9; place < key.length; place++) {
    for (const character of ALPHABET) {
      if (character === key[place]) continue
      expect(parseKey(key.slice(0, place) + character + key.slice(place + 1))).toBeNull()
    }
  }
  expect(parseKey(key.replace("live", "test"))).toBeNull()
})

test("text that is not a key is refused", () => {
  const key = makeKey("test", randomBytes)
  for (const text of [
    "",
    " ",
    key.slice(1),
    `${key}0`,
    ` ${key}`,
    `${key}\n`,
    key.toUpperCase(),
    "ключ",
    "x".repeat(1e6),
  ]) {
    expect(parseKey(text)).toBeNull()
  }
})

test("a key's digest is SHA-256, its hint ends with the last four characters, and the log redacts the key", () => {
  const key = makeKey("live", randomBytes)
  expect(keyDigest(key).equals(createHash("sha256").update(key).digest())).toBe(true)
  expect(keyHint(key)).toBe(`svc_live_…${key.slice(-4)}`)
  expect(redact(`GET /v1/apps?key=${key}`)).toBe("GET /v1/apps?key=svc_live_[redacted]")
})
