import { describe, expect, test } from "bun:test"
import { hash } from "node:crypto"
import type { Socket } from "node:net"
import { gzipSync } from "node:zlib"
import { readAppAds } from "../../../src/listings/due/read-app-ads.ts"
import type { SafeFetch } from "../../../src/outbound/safe-fetch.ts"
import { long, slow } from "../../long.ts"
import { ask, codeOf, flood, page, type Site, safeSite, site } from "../../outbound/site.ts"

const NOW = new Date("2026-04-01T12:00:00Z")
const APP = { platform: "ios", id: "1600000101" } as const
const siteOf = (developerSite: string | null) => ({ ...APP, developerSite })
const FILE = "\ufeff# ads\r\nOWNERDOMAIN=example.test\r\ngoogle.com, pub-1, direct, f08c\r\nunity.com, 2, RESELLER\r\n"
const RECORDS = [
  { system: "google.com", publisherId: "pub-1", relation: "DIRECT", certId: "f08c" },
  { system: "unity.com", publisherId: "2", relation: "RESELLER" },
]
const utf8 = (text: string) => Buffer.from(text).toString("latin1")

describe("app-ads.txt", () => {
  test("app-ads.txt is read over TLS, with its variables and its host", async () => {
    await using web = await world({ "https://example.test": page(utf8(FILE)) })
    const reading = await readAppAds(web.fetch, siteOf("https://www.example.test/support"), { now: () => NOW })
    expect(reading).toEqual({
      kind: "app_ads",
      source: "app-ads-txt",
      ...APP,
      domain: "example.test",
      state: "records",
      records: RECORDS as typeof reading.records,
      variables: { OWNERDOMAIN: ["example.test"] },
      seenAt: NOW,
      parser: 1,
      origin: "own",
      sha256: hash("sha256", FILE, "buffer"),
    })
    expect(web.requested).toEqual(["https://example.test/app-ads.txt"])
  })

  test("app-ads.txt is read over plain HTTP only if HTTPS fails on the host", async () => {
    await using bare = await world({ "http://example.test": page(FILE) }, { tls: "none" })
    expect(await state(bare, "https://example.test")).toEqual(["records", "example.test"])
    await using wrong = await world({ "http://wrong.test": page(FILE) })
    expect(await state(wrong, "https://wrong.test")).toEqual(["records", "wrong.test"])
    await using withHttp = await world({ "https://example.test": page("", {}, 404), "http://example.test": page(FILE) })
    expect(await state(withHttp, "http://example.test")).toEqual(["no_file", "example.test"])
    expect(withHttp.requested).toEqual(["https://example.test/app-ads.txt"])
  })

  test("the root domain's app-ads.txt is read only if the subdomain has no file", async () => {
    await using ownDomain = await world({
      "https://apps.example.test": page(FILE),
      "https://example.test": page("a.com,1,DIRECT"),
    })
    expect(await state(ownDomain, "https://x.apps.example.test/")).toEqual(["records", "apps.example.test"])
    expect(ownDomain.requested).toEqual(["https://apps.example.test/app-ads.txt"])
    await using root = await world({
      "https://apps.example.test": page("", {}, 404),
      "https://example.test": page(FILE),
    })
    expect(await state(root, "https://apps.example.test/")).toEqual(["records", "example.test"])
    await using down = await world({
      "https://apps.example.test": page("", {}, 503),
      "https://example.test": page(FILE),
    })
    expect(await state(down, "https://apps.example.test/")).toEqual(["unreachable", "apps.example.test"])
  })

  test("app-ads.txt is read from the root domain if the subdomain does not exist", async () => {
    await using root = await world({ "https://example.test": page(FILE) })
    expect(await state(root, "https://x.gone.example.test/")).toEqual(["records", "example.test"])
    await using bare = await world({ "https://example.test": page("", {}, 404) })
    expect(await state(bare, "https://x.gone.example.test/")).toEqual(["no_file", "example.test"])
    await using emptyWorld = await world({})
    expect(await state(emptyWorld, "https://x.gone.example.test/")).toEqual(["unreachable", "x.gone.example.test"])
  })
})

test.each([
  ["no_file", "404", page("not here", {}, 404)],
  ["no_file", "410", page("", {}, 410)],
  [
    "no_file",
    "a page for any path",
    page("<!doctype html>\n<pre>\ngoogle.com, pub-1, DIRECT\n</pre>", { "content-type": "text/html" }),
  ],
  ["no_file", "an empty file", page("")],
  ["no_file", "a file that names nobody", page("placeholder.example.com, placeholder, DIRECT, placeholder")],
  ["unreachable", "204", page("", {}, 204)],
  ["unreachable", "403", page(FILE, {}, 403)],
  ["unreachable", "429", page(FILE, {}, 429)],
  ["unreachable", "500", page(FILE, {}, 500)],
  ["unreachable", "503", page("", {}, 503)],
  [
    "unreachable",
    "an answer that breaks off",
    "HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\ngoogle.com, pub-1, DIRECT",
  ],
  ["unreachable", "an unknown coding", page(FILE, { "content-encoding": "zstd" })],
  ["unreachable", "a redirect to no place", page("", {}, 302)],
  ["unreachable", "a redirect to a private address", page("", { location: "http://10.0.0.1/app-ads.txt" }, 302)],
  ["unreachable", "a redirect to a file of the machine", page("", { location: "file:///etc/passwd" }, 302)],
] as const)("app-ads.txt has the state %s for %s", async (expected, _, response) => {
  await using web = await world({ "https://example.test": response })
  const reading = await readAppAds(web.fetch, siteOf("https://example.test"), { now: () => NOW })
  expect([reading.state, reading.records, reading.variables, reading.domain]).toEqual([
    expected,
    [],
    {},
    "example.test",
  ])
})

describe("app-ads.txt of a site", () => {
  test("a site without a web address has the state no_site and causes no request", async () => {
    await using web = await world({})
    for (const none of [null, "", "mailto:a@example.test", "ftp://example.test/", "javascript:alert(1)"])
      expect(await state(web, none)).toEqual(["no_site", null])
    expect(web.requested).toEqual([])
  })

  test("no request is sent to a numeric address or to a public suffix", async () => {
    await using web = await world({})
    for (const odd of [
      "http://127.0.0.1/",
      "http://0x7f.1/",
      "http://[::1]/",
      "http://localhost/",
      "https://github.io/",
    ])
      expect((await state(web, odd))[0]).toBe("unreachable")
    expect(web.requested).toEqual([])
  })

  test("a host that resolves to this machine is unreachable and gets no request", async () => {
    await using web = await world({ "https://example.test": page(FILE) }, { address: "127.0.0.2" })
    expect(await state(web, "https://example.test/")).toEqual(["unreachable", "example.test"])
    expect(web.hits()).toBe(0)
  })

  long("a file that is compressed from 200 MB, endless or too slow has the state unreachable", async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000)).toString("latin1")
    await using large = await world({ "https://example.test": page(bomb, { "content-encoding": "gzip" }) })
    expect(await state(large, "https://example.test/")).toEqual(["unreachable", "example.test"])
    await using endless = await world({
      "https://example.test": (socket) => flood(socket, "HTTP/1.1 200 OK\r\n\r\n", "a.com,1,DIRECT\n"),
    })
    expect(await state(endless, "https://example.test/")).toEqual(["unreachable", "example.test"])
    await using slow = await world({ "https://example.test": drip }, { totalMs: 500 })
    expect(await state(slow, "https://example.test/")).toEqual(["unreachable", "example.test"])
  })

  slow("if the caller aborts, the reading throws instead of returning a state", async () => {
    await using slow = await world({ "https://example.test": drip })
    const reading = readAppAds(slow.fetch, siteOf("https://example.test"), {
      now: () => NOW,
      signal: AbortSignal.timeout(200),
    })
    expect(await codeOf(reading)).toBe("stopped")
  })
})

describe("a redirect of app-ads.txt", () => {
  const to = (location: string) => page("", { location }, 301)

  test("several redirects in sequence are followed within the same root domain", async () => {
    await using web = await world({
      "https://example.test": to("https://www.example.test/app-ads.txt"),
      "https://www.example.test": to("http://files.example.test/ads"),
      "http://files.example.test": page(FILE),
    })
    expect(await state(web, "https://example.test")).toEqual(["records", "example.test"])
  })

  test("one redirect to another root domain is followed, and a second one makes the file unreachable", async () => {
    await using singleSite = await world({
      "https://example.test": to("https://elsewhere.test/ads.txt"),
      "https://elsewhere.test": page(FILE),
    })
    expect(await state(singleSite, "https://example.test")).toEqual(["records", "example.test"])
    for (const back of [
      "https://elsewhere.test/again",
      "https://www.example.test/app-ads.txt",
      "https://third.test/",
    ]) {
      await using two = await world({
        "https://example.test": to("https://elsewhere.test/ads.txt"),
        "https://elsewhere.test": to(back),
        "https://www.example.test": page(FILE),
        "https://third.test": page(FILE),
      })
      expect(await state(two, "https://example.test")).toEqual(["unreachable", "example.test"])
    }
  })

  test("a circular redirect makes the file unreachable", async () => {
    await using web = await world({ "https://example.test": to("/app-ads.txt") })
    expect(await state(web, "https://example.test")).toEqual(["unreachable", "example.test"])
  })
})

type SiteResponse = string | ((socket: Socket) => void)

interface World extends AsyncDisposable {
  fetch: SafeFetch
  /** URLs that the reading requested, without the URLs of redirects. */
  requested: string[]
  hits(): number
}

/** Starts servers for these origins on local ports. No other host exists. */
async function world(
  origins: Record<string, SiteResponse>,
  {
    tls = "good",
    address = "127.0.0.1",
    totalMs = 10_000,
  }: { tls?: "good" | "none"; address?: string; totalMs?: number } = {},
): Promise<World> {
  const ports = { http: 0, https: 0 }
  const answer = (scheme: "http" | "https", host: string, socket: Socket) => {
    const response = origins[`${scheme}://${host.replace(/:\d+$/, "")}`] ?? page("", {}, 404)
    if (typeof response === "string") socket.end(withPorts(response, ports), "latin1")
    else response(socket)
  }
  const plain: Site = await site((head, socket) => answer("http", /host: (\S+)/.exec(head)?.[1] ?? "", socket))
  const safe: Site = await safeSite((_, socket, host) => answer("https", host, socket))
  Object.assign(ports, { http: plain.port, https: tls === "none" ? 1 : safe.port })
  const names = new Set(Object.keys(origins).map((origin) => new URL(origin).hostname))
  const resolve = async (host: string) => (names.has(host) ? [address] : [])
  const requested: string[] = []
  return {
    requested,
    hits: () => plain.hits + safe.hits,
    fetch(url, options) {
      requested.push(url)
      const all = [plain.port, safe.port, 1]
      return ask(withPorts(url, ports), plain.port, { ...options, ports: all, resolve, totalMs })
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([plain[Symbol.asyncDispose](), safe[Symbol.asyncDispose]()])
    },
  }
}

function withPorts(text: string, { http, https }: { http: number; https: number }): string {
  return text.replace(
    /\b(https?):\/\/([a-z.]+\.test)/g,
    (_, scheme, host) => `${scheme}://${host}:${scheme === "http" ? http : https}`,
  )
}

async function state(web: World, developerSite: string | null): Promise<[string, string | null]> {
  const { state, domain } = await readAppAds(web.fetch, siteOf(developerSite), { now: () => NOW })
  return [state, domain]
}

function drip(socket: Socket): void {
  socket.write("HTTP/1.1 200 OK\r\n\r\n")
  const timer = setInterval(() => socket.write("a"), 20)
  socket.on("close", () => clearInterval(timer))
}
