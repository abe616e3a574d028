import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { hash } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import type { LogFields } from "../../src/lib/log.ts"
import { openRawBodies, type RawBodiesOptions } from "../../src/measuring/raw-bodies.ts"
import type { RawBody } from "../../src/measuring/source.ts"

const DAY_MS = 86_400_000
let at = new Date("2025-11-20T12:00:00Z")
let root: string
let folder: string

beforeEach(() => {
  at = new Date("2025-11-20T12:00:00Z")
  root = mkdtempSync(join(tmpdir(), "raw-bodies-"))
  folder = join(root, "raw")
})
afterEach(() => rmSync(root, { recursive: true }))

const open = (rest: Partial<RawBodiesOptions> = {}) =>
  openRawBodies({ folder, days: 14, megabytes: 100, now: () => at, ...rest })

function body(content: string | Uint8Array): RawBody {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content
  const text = new TextDecoder().decode(bytes)
  return { bytes, text, sha256: hash("sha256", bytes, "buffer"), url: "https://apps.apple.com/", seenAt: at }
}

/** Returns data that does not compress. */
function noise(bytes: number, seed: number): Uint8Array {
  let x = seed + 1
  return Uint8Array.from({ length: bytes }, () => {
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    return x & 255
  })
}

const files = (): string[] =>
  (existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [])
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort()

describe("a stored body", () => {
  test("a stored body is read back byte for byte, also if it is not UTF-8 or begins with a BOM", async () => {
    const bodies = open()
    for (const content of [
      "{}",
      "",
      "\uFEFFtea",
      "抹茶 \u0000",
      Uint8Array.of(0xff, 0xfe, 0x00, 0xc3),
      noise(300_000, 1),
    ]) {
      const original = body(content)
      await bodies.keep(original)
      const { bytes, text, sha256 } = (await bodies.read(original.sha256))!
      expect([...bytes]).toEqual([...original.bytes])
      expect(text).toBe(original.text)
      expect(hash("sha256", bytes)).toBe(Buffer.from(sha256).toString("hex"))
    }
  })

  test("a stored body is a compressed file named by its hash and readable only by the file's owner", async () => {
    const original = body("tea ".repeat(10_000))
    await open().keep(original)
    const hex = Buffer.from(original.sha256).toString("hex")
    expect(files()).toEqual([`${hex.slice(0, 2)}/${hex.slice(2)}.gz`])
    const path = join(folder, files()[0]!)
    const { mode, size } = statSync(path)
    expect([mode & 0o777, statSync(folder).mode & 0o777, statSync(join(path, "..")).mode & 0o777]).toEqual([
      0o600, 0o700, 0o700,
    ])
    expect(size).toBeLessThan(1_000)
    expect(gunzipSync(await Bun.file(path).bytes()).toString()).toBe("tea ".repeat(10_000))
  })

  test("equal responses are stored as one body, also when they are stored concurrently", async () => {
    const stores = [open(), open(), open()]
    await Promise.all(Array.from({ length: 30 }, (_, i) => stores[i % 3]!.keep(body(noise(20_000, i % 2)))))
    expect(files()).toHaveLength(2)
    expect((await open().size()).bodies).toBe(2)
    const written = files().map((name) => statSync(join(folder, name)).ino)
    await open().keep(body(noise(20_000, 1)))
    expect(files().map((name) => statSync(join(folder, name)).ino)).toEqual(written)
  })

  test("a stored body damaged by the disk is not returned, and can be stored again", async () => {
    const bodies = open()
    const original = body("tea")
    for (const damaged of ["", "no gzip", Bun.gzipSync("coffee")]) {
      await bodies.keep(original)
      writeFileSync(join(folder, files()[0]!), damaged)
      expect(await bodies.read(original.sha256)).toBeNull()
    }
    await bodies.keep(original)
    expect((await bodies.read(original.sha256))?.text).toBe("tea")
  })
})

test("a body never stored is absent, and an empty folder has size zero", async () => {
  const bodies = open()
  expect(await bodies.read(body("tea").sha256)).toBeNull()
  expect(await bodies.size()).toEqual({ bodies: 0, bytes: 0, oldest: null })
  expect(await bodies.sweep()).toEqual({ removed: 0, bytes: 0 })
  expect(existsSync(folder)).toBeFalse()
})

test("a setting of 0 days stores no bodies and deletes those stored before", async () => {
  await open().keep(body("tea"))
  const none = open({ days: 0 })
  await none.keep(body("coffee"))
  expect(files()).toHaveLength(1)
  at = new Date(at.getTime() + 1)
  expect((await none.sweep()).removed).toBe(1)
  expect(files()).toHaveLength(0)
})

describe("a sweep", () => {
  test("a sweep deletes bodies older than the set days, counted from when a body was last received", async () => {
    const bodies = open()
    for (const text of ["old", "again", "young"]) {
      await bodies.keep(body(text))
      at = new Date(at.getTime() + 5 * DAY_MS)
    }
    await bodies.keep(body("again"))
    at = new Date(at.getTime() + 6 * DAY_MS)
    const before = await bodies.size()
    const swept = await bodies.sweep()
    expect(swept.removed).toBe(1)
    const after = await bodies.size()
    expect(after).toEqual({
      bodies: 2,
      bytes: before.bytes - swept.bytes,
      oldest: new Date("2025-11-30T12:00:00Z"),
    })
    expect(await bodies.read(body("old").sha256)).toBeNull()
    expect((await bodies.read(body("again").sha256))?.text).toBe("again")
  })

  test("a sweep deletes the oldest bodies beyond the size limit, and no more", async () => {
    const bodies = open({ megabytes: 0.1 })
    for (let i = 0; i < 10; i++) {
      await bodies.keep(body(noise(20_000, i)))
      at = new Date(at.getTime() + 1_000)
    }
    expect((await bodies.size()).bytes).toBeGreaterThan(200_000)
    expect((await bodies.sweep()).removed).toBe(6)
    expect((await bodies.size()).bytes).toBeGreaterThan(80_000)
    const present = await Promise.all(
      Array.from({ length: 10 }, async (_, i) => (await bodies.read(body(noise(20_000, i)).sha256)) !== null),
    )
    expect(present).toEqual([...Array(6).fill(false), ...Array(4).fill(true)])
    expect(await bodies.sweep()).toEqual({ removed: 0, bytes: 0 })
  })

  test("a sweep deletes unfinished body files of a killed process, but no foreign files", async () => {
    const bodies = open()
    await bodies.keep(body("tea"))
    const [stored] = files()
    const abandoned = `${stored}.${crypto.randomUUID()}.begun`
    const young = `${stored}.${crypto.randomUUID()}.begun`
    mkdirSync(join(folder, "notes"))
    for (const name of [abandoned, young, "README", "notes/cd.gz", `${stored!.slice(0, 2)}/cd.gz`])
      writeFileSync(join(folder, name), "x")
    for (const name of files()) utimesSync(join(folder, name), at, at)
    const old = new Date(at.getTime() - 2 * 3_600_000)
    utimesSync(join(folder, abandoned), old, old)
    expect(await bodies.size()).toMatchObject({ bodies: 1 })
    expect((await bodies.sweep()).removed).toBe(1)
    at = new Date(at.getTime() + 400 * DAY_MS)
    expect((await bodies.sweep()).removed).toBe(2)
    expect(files()).toEqual([`${stored!.slice(0, 2)}/cd.gz`, "README", "notes/cd.gz"].sort())
  })
})

test("a reading is stored although the body folder is read-only, which is logged once an hour", async () => {
  writeFileSync(folder, "a file where the folder should be")
  const lines: [string, LogFields | undefined][] = []
  const bodies = open({ log: (_, event, fields) => void lines.push([event, fields]) })
  for (let i = 0; i < 50; i++) await bodies.keep(body(`tea ${i}`))
  expect(await bodies.sweep()).toEqual({ removed: 0, bytes: 0 })
  expect(lines).toHaveLength(1)
  expect(lines[0]![0]).toBe("raw_bodies_failed")
  expect(lines[0]![1]?.reason).toBeString()
  at = new Date(at.getTime() + 3_600_000)
  await bodies.keep(body("tea"))
  expect(lines).toHaveLength(2)
  rmSync(folder)
  await bodies.keep(body("tea"))
  expect((await bodies.read(body("tea").sha256))?.text).toBe("tea")
})
