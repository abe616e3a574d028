import { beforeAll, describe, expect, test } from "bun:test"
import { randomBytes } from "node:crypto"
import { inspect } from "node:util"
import fc from "fast-check"
import { AccessProblem } from "../../src/access/problem.ts"
import { createSealer, type Place, type Sealer, SecretKeys, secretKeyOf } from "../../src/access/sealed.ts"
import { errorOf } from "../error-of.ts"
import { slow } from "../long.ts"

const key = () => randomBytes(32).toString("base64")
const [first, second, third] = [key(), key(), key()]
const sealerOf = (...keys: string[]) => createSealer(new SecretKeys(keys))
const place: Place = { table: "connection", row: "17" }
const runs = { numRuns: 300, seed: 20_251_121 }
const text = fc.string({ unit: "binary", maxLength: 60 })

let sealer: Sealer

beforeAll(async () => {
  sealer = await sealerOf(first)
})

const problemOf = async (call: Promise<unknown>) => {
  const error = await errorOf(call)
  expect(error).toBeInstanceOf(AccessProblem)
  return (error as AccessProblem).message
}

slow(
  "an encrypted text is decrypted unchanged, and encrypting the same text twice gives different results",
  async () => {
    await fc.assert(
      fc.asyncProperty(text, text, async (secret, row) => {
        const ownPlace = { table: "connection", row }
        const [sealed, other] = [await sealer.seal(secret, ownPlace), await sealer.seal(secret, ownPlace)]
        expect(sealed).toMatch(/^v1\.[\w-]{8}\.[\w-]{16}\.[\w-]{22,}$/)
        expect(sealed).not.toBe(other)
        expect(await sealer.open(sealed, ownPlace)).toBe(secret.toWellFormed())
      }),
      runs,
    )
  },
)

test("a text in which any byte or character is changed, added or removed is not decrypted", async () => {
  const sealed = await sealer.seal("a secret of some length", place)
  for (let at = 0; at < sealed.length; at++) {
    const changed = [...new Set(["A", "B", "_", ".", "=", " "])].map(
      (c) => sealed.slice(0, at) + c + sealed.slice(at + 1),
    )
    const shortened = sealed.slice(0, at) + sealed.slice(at + 1)
    const added = `${sealed.slice(0, at)}A${sealed.slice(at)}`
    for (const other of [...changed, shortened, added]) if (other !== sealed) await problemOf(sealer.open(other, place))
  }
  const parts = sealed.split(".")
  for (const part of [2, 3]) {
    const bytes = Buffer.from(parts[part]!, "base64url")
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes)
      flipped[bit >> 3]! ^= 1 << (bit & 7)
      await problemOf(sealer.open(parts.with(part, flipped.toString("base64url")).join("."), place))
    }
  }
})

test("an encrypted text whose last character differs is refused, even if it decodes to the same bytes", async () => {
  for (const secret of ["", "a", "ab", "abc"]) {
    const sealed = await sealer.seal(secret, place)
    for (const c of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
      if (!sealed.endsWith(c)) await problemOf(sealer.open(sealed.slice(0, -1) + c, place))
  }
})

test("a text is decrypted only for the table and row that it was encrypted for", async () => {
  await fc.assert(
    fc.asyncProperty(text, text, text, async (table, row, other) => {
      const sealed = await sealer.seal("secret", { table, row })
      const otherPlaces = [
        { table, row: other },
        { table: other, row },
        { table: table + row, row: "" },
        { table: row, row: table },
      ]
      for (const otherPlace of otherPlaces) {
        const same =
          otherPlace.table.toWellFormed() === table.toWellFormed() &&
          otherPlace.row.toWellFormed() === row.toWellFormed()
        if (!same) expect(await problemOf(sealer.open(sealed, otherPlace))).toContain("belongs to another row")
      }
    }),
    runs,
  )
})

describe("a change of keys", () => {
  test("a text encrypted with an earlier key can be decrypted, and new texts use the newest key", async () => {
    const old = await sealer.seal("kept", place)
    const next = await sealerOf(third, second, first)
    expect(await next.open(old, place)).toBe("kept")
    const fresh = await next.seal("kept", place)
    expect([next.isOld(old), next.isOld(fresh)]).toEqual([true, false])
    expect(await (await sealerOf(third)).open(fresh, place)).toBe("kept")
    expect(await problemOf((await sealerOf(third, second)).open(old, place))).toContain("SECRET_KEY_PREVIOUS")
  })

  test("a wrong key with the id of the right key does not decrypt a text", async () => {
    const sealed = (await sealer.seal("secret", place)).split(".")
    const other = await sealerOf(second)
    const [, id] = (await other.seal("x", place)).split(".")
    expect(await problemOf(other.open(sealed.with(1, id!).join("."), place))).toContain("cannot be opened")
  })
})

describe("without a key", () => {
  test("without a key, encrypting and decrypting fail, and the error has a command that creates a key", async () => {
    const keyless = await createSealer(null)
    const sealed = await sealer.seal("secret", place)
    for (const call of [keyless.seal("secret", place), keyless.open(sealed, place)]) {
      const message = await problemOf(call)
      expect(message).toMatch(/^this needs SECRET_KEY, which is not set; make one with: [^\n]+$/)
      const command = /make one with: ([^,]+),/.exec(message)![1]!
      expect(secretKeyOf(Bun.spawnSync(["sh", "-c", command]).stdout.toString().trim())).toHaveLength(32)
    }
  })
})

describe("keys", () => {
  test("secret keys are 32 bytes in base64, base64url or hex", () => {
    const bytes = randomBytes(32)
    for (const encoding of ["base64", "base64url", "hex"] as const)
      expect(secretKeyOf(bytes.toString(encoding))).toEqual(new Uint8Array(bytes))
  })

  test.each([
    ["too short", randomBytes(31).toString("base64")],
    ["too long", randomBytes(33).toString("hex")],
    ["a pattern", "0123".repeat(16)],
    ["zeros", Buffer.alloc(32).toString("base64")],
    ["a sentence", "correct horse battery staple correct horse!"],
    ["empty", ""],
  ])("secret keys that are %s are refused", (_, value) => expect(secretKeyOf(value)).toBeNull())

  test("secret keys never appear in JSON, logs or text", async () => {
    const keys = new SecretKeys([first, second])
    const hex = Buffer.from(first, "base64").toString("hex")
    const dumps = [
      JSON.stringify({ keys }),
      inspect({ keys }, { depth: 9, showHidden: true }),
      String(keys),
      Bun.inspect(keys),
    ]
    dumps.push(JSON.stringify(await createSealer(keys)), inspect(await createSealer(keys), { depth: 9 }))
    for (const dump of dumps) for (const form of [first, hex]) expect(dump).not.toContain(form)
    const bytes = [...Buffer.from(first, "base64")].join(", ").slice(0, 30)
    for (const dump of dumps) expect(dump.replace(/\s+/g, " ")).not.toContain(bytes)
  })
})
