import { afterEach, beforeEach, expect, test } from "bun:test"
import { hash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { silentLog } from "../../../src/lib/log.ts"
import { OutboundProblem } from "../../../src/outbound/problem.ts"
import type { SafeFetch } from "../../../src/outbound/safe-fetch.ts"
import { isPictureAddress, sizedPicture } from "../../../src/stores/pictures/picture-address.ts"
import { createPictureCache, MAX_PICTURE_BYTES } from "../../../src/stores/pictures/picture-cache.ts"

const ICON = "https://is1-ssl.mzstatic.com/image/thumb/a/96x288bb.jpg"
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const JPEG = [0xff, 0xd8, 0xff, 0xe0]
const WEBP = [...Buffer.from("RIFF\x10\x00\x00\x00WEBPVP8 ", "latin1")]

let folder: string
let requestedUrls: string[]
let answer: (url: string) => { status?: number; bytes: Uint8Array }
let now = 0

beforeEach(() => {
  folder = `/tmp/appmeter-pictures-${crypto.randomUUID()}`
  requestedUrls = []
  answer = () => ({ bytes: Uint8Array.from(PNG) })
  now = 0
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function openCache(maxBytes = 1_000_000) {
  const fetch: SafeFetch = async (url, options) => {
    requestedUrls.push(url)
    expect(options?.mostBytes).toBe(MAX_PICTURE_BYTES)
    expect(options?.mayFollow).toBeUndefined()
    const { status = 200, bytes } = answer(url)
    return { url, status, headers: new Headers({ "content-type": "text/html" }), bytes }
  }
  return createPictureCache({ folder, maxBytes, fetch, log: silentLog, now: () => now })
}

test("a picture is fetched once for all callers, and is read from disk after a restart", async () => {
  const cache = openCache()
  const pictures = await Promise.all(Array.from({ length: 20 }, () => cache.read(ICON)))
  expect(new Set(pictures.map((picture) => picture?.type))).toEqual(new Set(["image/png"]))
  expect((await openCache().read(ICON))?.bytes).toEqual(Uint8Array.from(PNG))
  expect(requestedUrls).toEqual([ICON])
})

test("a picture's type is detected from its bytes, and only PNG, JPEG and WebP are stored", async () => {
  const hostile = [
    "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    "<html><script>alert(1)</script>",
    "GIF89a\x01\x00\x01\x00",
    "%PDF-1.7",
    "",
    "RIFF\x10\x00\x00\x00WAVE",
    ` ${String.fromCharCode(...PNG)}`,
  ].map((text) => Buffer.from(text, "latin1"))
  const good = [PNG, JPEG, WEBP].map((bytes) => Uint8Array.from(bytes))
  const bodies = [...good, ...hostile]
  const addressOf = (at: number) => `https://play-lh.googleusercontent.com/p${at}`
  answer = (url) => ({ bytes: bodies[Number(/\d+$/.exec(url)?.[0])]! })
  const cache = openCache()
  const types = []
  for (const at of bodies.keys()) types.push((await cache.read(addressOf(at)))?.type ?? null)
  expect(types.slice(0, 3)).toEqual(["image/png", "image/jpeg", "image/webp"])
  expect(types.slice(3)).toEqual(hostile.map(() => null))
  expect(readdirSync(folder)).toHaveLength(3)
})

test("a file in the folder that is not a picture is never returned", async () => {
  mkdirSync(folder)
  writeFileSync(join(folder, hash("sha256", ICON)), "<html><script>alert(1)</script>")
  expect((await openCache().read(ICON))?.bytes).toEqual(Uint8Array.from(PNG))
})

test("a picture is requested only from the picture hosts of the stores", async () => {
  const cache = openCache()
  const foreign = [
    "http://is1-ssl.mzstatic.com/a.png",
    "https://is1-ssl.mzstatic.com:8443/a.png",
    "https://user:pass@is1-ssl.mzstatic.com/a.png",
    "https://is1-ssl.mzstatic.com.evil.example/a.png",
    "https://evil.example/is1-ssl.mzstatic.com/a.png",
    "https://evil-play-lh.googleusercontent.com/a",
    "https://lh3.googleusercontent.com/a",
    "https://is1-ssl.mzstatic.com/a.png?to=http://127.0.0.1",
    "https://is1-ssl.mzstatic.com/a.png#x",
    "https://is1-ssl.mzstatic.com/../a.png",
    "https://127.0.0.1/a.png",
    "file:///etc/passwd",
    "data:image/png;base64,AAAA",
    `https://is1-ssl.mzstatic.com/${"a".repeat(2_000)}`,
    "",
  ]
  expect(foreign.filter(isPictureAddress)).toEqual([])
  for (const address of foreign) expect(await cache.read(address)).toBeNull()
  expect([requestedUrls, existsSync(folder)]).toEqual([[], false])
})

test("pictures are requested in the size that pages show", () => {
  expect(sizedPicture("https://is3-ssl.mzstatic.com/image/thumb/P/v4/a/512x512bb.jpg", 96)).toBe(
    "https://is3-ssl.mzstatic.com/image/thumb/P/v4/a/96x288bb.jpg",
  )
  expect(sizedPicture("https://play-lh.googleusercontent.com/abc=w240-h480", 96)).toBe(
    "https://play-lh.googleusercontent.com/abc=w96-h288",
  )
  expect(sizedPicture("https://evil.example/512x512bb.jpg", 96)).toBeNull()
})

test("an unavailable picture is requested again only after ten minutes", async () => {
  const cache = openCache()
  answer = () => {
    throw new OutboundProblem("too_large")
  }
  expect([await cache.read(ICON), await cache.read(ICON)]).toEqual([null, null])
  expect(requestedUrls).toHaveLength(1)
  now = 601_000
  answer = () => ({ status: 404, bytes: Uint8Array.from(PNG) })
  expect([await cache.read(ICON), requestedUrls.length]).toEqual([null, 2])
  now = 1_300_000
  answer = () => ({ bytes: Uint8Array.from(PNG) })
  expect((await cache.read(ICON))?.type).toBe("image/png")
})

test("the picture folder stays within its limit by deleting the least recently opened pictures", async () => {
  const big = new Uint8Array(1_000)
  big.set(PNG)
  answer = () => ({ bytes: big })
  const cache = openCache(5_000)
  const addressOf = (at: number) => `https://play-lh.googleusercontent.com/p${at}`
  for (let at = 0; at < 12; at++) await cache.read(addressOf(at))
  expect(readdirSync(folder).length * 1_000).toBeLessThanOrEqual(5_000)
  expect(readdirSync(folder)).toContain(hash("sha256", addressOf(11)))
})

test("an unwritable folder prevents caching, and the picture is still returned", async () => {
  writeFileSync(folder, "a file in its place")
  expect((await openCache().read(ICON))?.type).toBe("image/png")
})
