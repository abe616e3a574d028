import { describe, expect, test } from "bun:test"
import { createSocket } from "node:dgram"
import { Resolver } from "node:dns/promises"
import { networkInterfaces } from "node:os"
import { parseAddressList } from "../../src/access/addresses.ts"
import { OutboundProblem } from "../../src/outbound/problem.ts"
import { safeFetch } from "../../src/outbound/safe-fetch.ts"
import { ask, codeOf, page, type Site, safeSite, site, text } from "./site.ts"

/** Spellings that a lax parser resolves to this machine: the first list directly, the second through a name. */
const LOOPBACK = [
  "127.0.0.1",
  "127.0.0.1.",
  "127.1",
  "127.0.1",
  "127.000.000.001",
  "2130706433",
  "0x00000007f000001",
  "0x7f000001",
  "0X7F000001",
  "017700000001",
  "0177.0.0.1",
  "0177.0.0.01",
  "0x7f.0.0.1",
  "0x7f.1",
  "0x7f.0x0.0x0.0x1",
  "0177.0x0.1",
  "00000177.0.0.1",
  "127.0x1",
  "127.0.0.0x1",
  "%31%32%37.0.0.1",
  "127%2e0%2e0%2e1",
  "１２７.0.0.1",
  "①②⑦.0.0.1",
  "127。0。0。1",
  "127．0．0．1",
  "127｡0｡0｡1",
  "127.127.127.127",
  "0",
  "0.0.0.0",
  "0x0",
  "00.0",
  "[::]",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[0000::0001]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::FFFF:7F00:0001]",
  "[0:0:0:0:0:ffff:127.0.0.1]",
]
const NAMES = [
  "localhost",
  "LOCALHOST",
  "localhost.",
  "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
  "localh%6fst",
  "rebind.example.test",
  "a.b.c.example.test",
]
const ELSEWHERE = [
  "10.0.0.1",
  "10.1",
  "0xa000001",
  "172.16.0.1",
  "192.168.0.1",
  "192.168.257",
  "3232235521",
  "100.64.0.1",
  "100.100.100.200",
  "169.254.169.254",
  "2852039166",
  "0xa9fea9fe",
  "0251.0376.0251.0376",
  "169.254.43518",
  "192.0.0.192",
  "168.63.129.16",
  "198.18.0.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "192.0.2.1",
  "192.88.99.1",
  "[::7f00:1]",
  "[::127.0.0.1]",
  "[::ffff:0:127.0.0.1]",
  "[::ffff:169.254.169.254]",
  "[2002:7f00:1::]",
  "[2002:a9fe:a9fe::]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b::a9fe:a9fe]",
  "[64:ff9b:1::1]",
  "[2001:0:7f00:1::]",
  "[fe80::1]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[fec0::1]",
  "[ff02::1]",
  "[100::1]",
  "[2001:db8::1]",
  "[3fff::1]",
  "[5f00::1]",
]
const NO_FORMS = [
  "127.0.0.1%00.example.com",
  "[::1%25lo]",
  "[fe80::1%25eth0]",
  "256.0.0.1",
  "127.0.0.0.1",
  "4294967297",
  "0x100000001",
  "[::1",
  "127.0.0.1:80:80",
  "exa mple.com",
  "[127.0.0.1]",
  "a<b",
  "",
]

/** Schemes, users and ports that are refused. */
const NO_TARGETS = [
  "file:///etc/passwd",
  "data:text/plain,x",
  "s3://bucket/key",
  "ftp://127.0.0.1/",
  "gopher://127.0.0.1:70/",
  "ws://a.test/",
  "ftp://a.test:80/",
  "wss://a.test:443/",
  "gopher://a.test:443/",
  "javascript:alert(1)",
  "//a.test/",
  "a.test",
  "http://u:p@a.test/",
  "http://u@a.test/",
  "https://:p@a.test/",
  "http://a.test:22/",
  "https://a.test:6379/",
  "http://a.test:8080/",
  "http://a.test:0/",
  "http://a.test:65536/",
  `http://a.test/${"x".repeat(2_048)}`,
]

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"))
const everywhere = { host: hasIpv6 ? "::" : "0.0.0.0" }

const atLoopback = async () => ["127.0.0.1"]

describe("a hostile URL", () => {
  test(
    "a hostile URL reaches nothing on this machine in any of " +
      `${LOOPBACK.length + NAMES.length + ELSEWHERE.length} spellings`,
    async () => {
      await using trap = await site(page("secret"), everywhere)
      const forms = [...LOOPBACK, ...NAMES, ...ELSEWHERE]
      expect(forms.length).toBeGreaterThan(60)
      for (const scheme of ["http", "https"]) {
        for (const form of forms) {
          const request = safeFetch(`${scheme}://${form}:${trap.port}/`, { ports: [trap.port], resolve: atLoopback })
          expect([form, await codeOf(request)]).toEqual([form, "blocked"])
        }
      }
      expect(trap.hits).toBe(0)
    },
  )

  test("each spelling of loopback would reach this machine if every address were allowed", async () => {
    await using trap = await site(page("secret"), everywhere)
    const everything = { includes: () => true }
    const forms = [...LOOPBACK, ...NAMES].filter((form) => hasIpv6 || !form.startsWith("["))
    for (const form of forms) {
      const url = `http://${form}:${trap.port}/`
      expect([form, text(await ask(url, trap.port, { allowPrivate: everything }))]).toEqual([form, "secret"])
    }
    expect(trap.hits).toBe(forms.length)
  })

  test("an invalid URL is refused before its host name is resolved", async () => {
    const resolve = () => Promise.reject(new Error("it was looked up"))
    for (const url of [...NO_FORMS.map((form) => `http://${form}/`), ...NO_TARGETS])
      expect([url, await codeOf(safeFetch(url, { resolve }))]).toEqual([url, "bad_address"])
  })

  test("a host name is refused if one of its addresses is private", async () => {
    await using trap = await site(page("secret"))
    for (const addresses of [
      ["8.8.8.8", "127.0.0.1"],
      ["127.0.0.1", "2606:4700::1"],
      ["8.8.8.8", "fe80::1%lo"],
      ["8.8.8.8", "x"],
    ]) {
      const resolve = async () => addresses
      const request = safeFetch(`http://a.test:${trap.port}/`, { ports: [trap.port], resolve })
      expect(await codeOf(request)).toBe("blocked")
    }
    expect(trap.hits).toBe(0)
  })

  test("allowing one private network does not allow any other network", async () => {
    await using service = await twoHosts()
    const allowPrivate = parseAddressList(["127.0.0.2/31", "10.0.0.0/8"])
    const at = (host: string) =>
      codeOf(ask(`http://${host}:${service.port}/`, service.port, { allowPrivate }).then(text))
    expect([await at("127.0.0.2"), await at("127.0.0.1"), await at("[::1]")]).toEqual(["allowed", "blocked", "blocked"])
    expect(service.trap.hits).toBe(0)
  })
})

describe("DNS rebinding", () => {
  test("in 1,000 requests, a host name with alternating addresses never reaches the blocked address", async () => {
    await using service = await twoHosts()
    let lookUps = 0
    const resolve = async () => [++lookUps % 2 === 1 ? "127.0.0.2" : "127.0.0.1"]
    const answers = await service.tries(1_000, resolve)
    expect(lookUps).toBe(1_000)
    expect(answers).toEqual(Array.from({ length: 1_000 }, (_, at) => (at % 2 === 0 ? "allowed" : "blocked")))
    expect([service.allowed.hits, service.trap.hits]).toEqual([500, 0])
  })

  test("a host name whose name server alternates between two addresses never reaches the blocked address", async () => {
    await using service = await twoHosts()
    await using server = await flippingNameServer(["127.0.0.2", "127.0.0.1"])
    const resolver = new Resolver()
    resolver.setServers([`127.0.0.1:${server.port}`])
    const answers = await service.tries(200, (name) => resolver.resolve4(name))
    expect(answers.filter((answer) => answer === "allowed")).toHaveLength(100)
    expect(answers.filter((answer) => answer === "blocked")).toHaveLength(100)
    expect([server.queryCount(), service.trap.hits]).toEqual([200, 0])
  })
})

describe("redirects", () => {
  test("a redirect cannot lead to a URL that would be refused as the first URL", async () => {
    await using trap = await site(page("secret"), everywhere)
    const { port } = trap
    const targets = [
      `http://127.0.0.2:${port}/`,
      `http://0x7f.2:${port}/`,
      `//[::1]:${port}/`,
      `http://[::ffff:7f00:2]:${port}/`,
      `http://other.test:${port}/`,
      `http:\\\\127.0.0.2:${port}\\`,
      `http://u:p@127.0.0.1:${port}/`,
      "http://127.0.0.1:22/",
      "file:///etc/passwd",
      "data:text/plain,x",
      "ftp://127.0.0.1/",
    ]
    for (const status of [301, 302, 303, 307, 308]) {
      for (const target of targets) {
        await using open = await site(page("", { location: target }, status))
        const resolve = async (host: string) => [host === "other.test" ? "127.0.0.2" : "127.0.0.1"]
        const request = ask(`http://a.test:${open.port}/`, port, {
          ports: [port, open.port],
          resolve,
          mayFollow: () => true,
        })
        expect(["blocked", "bad_address"]).toContain((await codeOf(request)) as string)
      }
    }
    expect(trap.hits).toBe(0)
  })

  test("the host name of every redirect is resolved and checked", async () => {
    const resolvedHosts: string[] = []
    await using open = await site((head, socket) => {
      const to = head.includes("host: a.test") ? `http://b.test:${open.port}/` : `http://c.test:${open.port}/`
      socket.end(page("", { location: to }, 302))
    })
    const resolve = async (host: string) => {
      resolvedHosts.push(host)
      return [host === "c.test" ? "10.0.0.1" : "127.0.0.1"]
    }
    const request = ask(`http://a.test:${open.port}/`, open.port, { resolve, mayFollow: () => true })
    expect(await codeOf(request)).toBe("blocked")
    expect(resolvedHosts).toEqual(["a.test", "b.test", "c.test"])
  })
})

test("an outbound error contains no address, no server banner and no cause", async () => {
  await using banner = await site("SSH-2.0-OpenSSH_9.6 canary\r\n\r\n")
  await using cut = await site("HTTP/1.1 200 canary\r\ncontent-length: 99\r\n\r\ncanary")
  await using safe = await safeSite(() => {})
  const problems = await Promise.all(
    [
      ask(`http://a.test:${banner.port}/`, banner.port),
      ask(`http://a.test:${cut.port}/`, cut.port),
      ask("http://a.test:1/", 1),
      ask(`https://a.test:${safe.port}/`, safe.port),
      safeFetch("http://a.test/", { resolve: async () => ["10.11.12.13"] }),
      safeFetch("http://a.test/", { resolve: () => Promise.reject(new Error("canary 10.11.12.13")) }),
    ].map((request) => request.catch((error) => error)),
  )
  for (const problem of problems) {
    expect(problem).toBeInstanceOf(OutboundProblem)
    const contents = [problem.message, problem.stack, JSON.stringify(problem), String(problem.cause)].join(" ")
    expect(contents).not.toMatch(/canary|SSH|10\.11|127\.0\.0\.1|ECONN/)
    expect(problem.cause).toBeUndefined()
  }
  const codes = ["bad_answer", "bad_answer", "unreachable", "tls", "blocked", "unreachable"]
  expect(problems.map(({ code }) => code)).toEqual(codes)
})

interface TwoHosts extends AsyncDisposable {
  port: number
  allowed: Site
  trap: Site
  /** Returns how each of `count` requests ends when names are resolved this way. */
  tries(count: number, resolve: (name: string) => Promise<string[]>): Promise<unknown[]>
}

/** Opens two hosts: 127.0.0.2, which is allowed, and 127.0.0.1 on the same port, which is not. */
async function twoHosts(): Promise<TwoHosts> {
  const allowed = await site(page("allowed"), { host: "127.0.0.2" })
  const { port } = allowed
  const trap = await site(page("secret"), { host: "127.0.0.1", port })
  const allowPrivate = { includes: (address: string) => address === "127.0.0.2" }
  return {
    port,
    allowed,
    trap,
    async tries(count, resolve) {
      const answers: unknown[] = []
      const options = { ports: [port], resolve, allowPrivate }
      while (answers.length < count)
        answers.push(await codeOf(safeFetch(`http://flips.test:${port}/`, options).then(text)))
      return answers
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([allowed[Symbol.asyncDispose](), trap[Symbol.asyncDispose]()])
    },
  }
}

/** Starts a name server that answers with these addresses in turn, each with a TTL of 0. */
async function flippingNameServer(addresses: string[]) {
  const server = createSocket("udp4")
  let queries = 0
  server.on("message", (question, from) => {
    let end = 12
    while (question[end]) end += (question[end] as number) + 1
    const head = Buffer.from(question.subarray(0, end + 5))
    // A recursive answer with one question and one address.
    head.set([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0], 2)
    const bytes = (addresses[queries++ % addresses.length] as string).split(".").map(Number)
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...bytes])
    server.send(Buffer.concat([head, answer]), from.port, from.address)
  })
  await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve))
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { port: server.address().port, queryCount: () => queries, [Symbol.asyncDispose]: close }
}
