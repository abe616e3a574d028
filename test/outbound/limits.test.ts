import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Socket } from "node:net"
import { join } from "node:path"
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib"
import { removeFolders } from "../commands/child.ts"
import { denoBinary, noDeno, underDeno } from "../deno-process.ts"
import { slow } from "../long.ts"
import type { Asking, Ended } from "./asking-process.ts"
import { ask, codeOf, flood, page, safeSite, site, text } from "./site.ts"

setDefaultTimeout(60_000)
afterAll(removeFolders)

const MAX_GROWTH_MB = 20

/** 200 MB of zeros per coding: 194 kB of gzip or deflate, 304 bytes of Brotli. */
const bombs = new Map<string, string>()
beforeAll(() => {
  const zeros = Buffer.alloc(200_000_000)
  const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
  bombs.set("gzip", gzipSync(zeros).toString("latin1"))
  bombs.set("deflate", deflateSync(zeros).toString("latin1"))
  bombs.set("br", brotliCompressSync(zeros, quick).toString("latin1"))
})

// These waits run during the earlier tests of this file, to save time.
let timed: Promise<number[]>
beforeAll(() => {
  timed = untilEnded()
  timed.catch(() => {})
})

async function untilEnded(): Promise<number[]> {
  await using silent = await site(() => {})
  await using slow = await site((_, socket) => drip(socket, "HTTP/1.1 200 OK\r\n\r\n"))
  return await Promise.all([timeOf(silent.port), timeOf(slow.port)])
}

describe("under bun", () => limits("bun"))
describe.skipIf(noDeno)("under deno", () => limits("deno"))

function limits(runtime: "bun" | "deno") {
  slow("a decompression bomb is refused before it takes memory", async () => {
    await using asking = askingProcess(runtime)
    for (const [coding, bomb] of bombs) {
      await using open = await site(page(bomb, { "content-encoding": coding }))
      const ended = await asking.ask(open.port)
      expect([coding, ended.outcome]).toEqual([coding, "too_large"])
      expect(ended.grownMb).toBeLessThan(MAX_GROWTH_MB)
    }
  })

  slow("an endless response is refused before it takes memory, whatever it sends", async () => {
    const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    const floods: [said: string, head: string, bytes: string][] = [
      ["too_large", "HTTP/1.1 200 OK\r\n\r\n", "x".repeat(60_000)],
      ["too_large", "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n", "x".repeat(60_000)],
      ["too_large", chunked, `ffff\r\n${"x".repeat(65_535)}\r\n`],
      ["too_large", chunked, "1\r\nx\r\n".repeat(10_000)],
      ["bad_answer", `${chunked}1;`, "x".repeat(60_000)],
      ["bad_answer", "HTTP/1.1 200 OK\r\n", "a: b\r\n".repeat(10_000)],
      ["bad_answer", "HTTP/1.1 200 OK\r\na: ", "x".repeat(60_000)],
      ["bad_answer", "", "HTTP/1.1 103 Early\r\nlink: x\r\n\r\n".repeat(1_000)],
      ["bad_answer", "", "x".repeat(60_000)],
      ["too_large", "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n", gzipSync("").toString("latin1").repeat(2_000)],
    ]
    await using asking = askingProcess(runtime)
    for (const [outcome, head, bytes] of floods) {
      await using open = await site((_, socket) => flood(socket, head, bytes))
      const ended = await asking.ask(open.port, { totalMs: 20_000 })
      expect([head, bytes.slice(0, 9), ended.outcome]).toEqual([head, bytes.slice(0, 9), outcome])
      expect(ended.grownMb).toBeLessThan(MAX_GROWTH_MB)
    }
  })

  slow("a request goes only to the resolved address, with the host's name", async () => {
    await using safe = await safeSite((_, socket) => socket.end(page("safe")))
    await using open = await site(page("open"))
    await using asking = askingProcess(runtime)
    const at = async (url: string, port: number) => (await asking.ask(port, {}, url)).outcome
    expect(await at(`https://example.test:${safe.port}/`, safe.port)).toBe("safe")
    expect(safe.names).toEqual(["example.test"])
    expect(await at(`https://wrong.test:${safe.port}/`, safe.port)).toBe("tls")
    expect(await at(`http://a.test:${open.port}/`, open.port)).toBe("open")
    for (const host of ["127.0.0.2", "2130706434", "[::1]", "[::ffff:127.0.0.2]", "[64:ff9b::7f00:1]", "0"])
      expect([host, await at(`http://${host}:${open.port}/`, open.port)]).toEqual([host, "blocked"])
    expect([open.hits, safe.requests.length]).toEqual([1, 1])
  })

  test("the proxy in the environment is not used", async () => {
    await using proxy = await site(page("proxied"))
    await using open = await site(page("open"))
    const url = `http://127.0.0.1:${proxy.port}`
    const env = { HTTP_PROXY: url, http_proxy: url, ALL_PROXY: url, NODE_USE_ENV_PROXY: "1" }
    await using asking = askingProcess(runtime, env)
    expect((await asking.ask(open.port)).outcome).toBe("open")
    expect(proxy.hits).toBe(0)
  })
}

describe("time limits", () => {
  slow("a request ends after 5 s without a byte, or after 10 s of single bytes", async () => {
    const [silentMs, slowMs] = await timed
    expect(silentMs).toBeGreaterThan(4_900)
    expect(silentMs).toBeLessThan(9_000)
    expect(slowMs).toBeGreaterThan(9_900)
    expect(slowMs).toBeLessThan(20_000)
  })

  slow("a request times out in every phase: name resolution, TLS, head, body and redirects", async () => {
    await using silent = await site(() => {})
    await using slowHead = await site((_, socket) => drip(socket, "HTTP/1.1 200 OK\r\nx: "))
    await using slowBody = await site((_, socket) => drip(socket, "HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n"))
    await using slowZip = await site((_, socket) =>
      drip(socket, `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n${NAMED}`),
    )
    await using circle = await site((_, socket) => {
      setTimeout(() => socket.end(page("", { location: "/" }, 302)), 100)
    })
    const short = { totalMs: 300 }
    const never = () => new Promise<string[]>(() => {})
    const codes: unknown[] = await Promise.all([
      codeOf(ask(`http://a.test:${silent.port}/`, silent.port, { ...short, resolve: never })),
      codeOf(ask(`https://a.test:${silent.port}/`, silent.port, short)),
      ...[silent, slowHead, slowBody, slowZip, circle].map(({ port }) =>
        codeOf(ask(`http://a.test:${port}/`, port, { ...short, mayFollow: () => true })),
      ),
    ])
    expect(codes).toEqual(codes.map(() => "timeout"))
  })

  slow("a response whose first byte is in time may take longer than the limit for the first byte", async () => {
    await using late = await site((_, socket) => {
      socket.write("HTTP/1.1 200 OK\r\n")
      setTimeout(() => socket.end("\r\nhere"), 400)
    })
    expect(text(await ask(`http://a.test:${late.port}/`, late.port, { firstByteMs: 200 }))).toBe("here")
  })

  slow("the caller's abort prevents a request that has not begun, and ends an open request", async () => {
    let closed = 0
    await using silent = await site((_, socket) => void socket.on("close", () => closed++))
    const url = `http://a.test:${silent.port}/`
    expect(await codeOf(ask(url, silent.port, { signal: AbortSignal.abort() }))).toBe("stopped")
    const ending = new AbortController()
    const request = codeOf(ask(url, silent.port, { signal: ending.signal }))
    await Bun.sleep(100)
    ending.abort()
    expect(await request).toBe("stopped")
    await Bun.sleep(100)
    expect([silent.hits, closed]).toEqual([1, 1])
  })
})

test("a body of 512,000 bytes is accepted and a larger body is refused, whether compressed or not", async () => {
  for (const [size, outcome] of [
    [512_000, 512_000],
    [512_001, "too_large"],
  ] as const) {
    await using plain = await site(page("x".repeat(size)))
    await using zipped = await site(page(gzipSync("x".repeat(size)).toString("latin1"), { "content-encoding": "gzip" }))
    for (const { port } of [plain, zipped]) {
      const request = ask(`http://a.test:${port}/`, port).then(({ bytes }) => bytes.length)
      expect(await codeOf(request)).toBe(outcome)
    }
  }
})

// A gzip header with a file name, which ends only at its NUL.
const NAMED = "\x1f\x8b\x08\x08\0\0\0\0\0\x03"

function drip(socket: Socket, head: string): void {
  socket.write(head, "latin1")
  const timer = setInterval(() => socket.write("x"), 20)
  socket.on("close", () => clearInterval(timer))
}

async function timeOf(port: number): Promise<number> {
  const startedAt = performance.now()
  expect(await codeOf(ask(`http://a.test:${port}/`, port))).toBe("timeout")
  return performance.now() - startedAt
}

interface AskingProcess extends AsyncDisposable {
  ask(port: number, options?: Asking["options"], url?: string): Promise<Ended>
}

/**
 * Starts a separate process, so that its memory can be measured. It does the one-time work of the first request
 * beforehand.
 */
function askingProcess(runtime: "bun" | "deno", env: Record<string, string> = {}): AskingProcess {
  const program = join(import.meta.dirname, "asking-process.ts")
  const environment = { PATH: process.env.PATH ?? "", ...env }
  const child =
    runtime === "bun"
      ? Bun.spawn([process.execPath, program], { env: environment, stdin: "pipe", stdout: "pipe" })
      : Bun.spawn([denoBinary(), "run", "--no-prompt", "--no-lock", "--allow-net", "--allow-env", program], {
          env: { ...underDeno([], {}).env, ...environment },
          stdin: "pipe",
          stdout: "pipe",
        })
  const lines = linesOf(child.stdout)
  const run = async (asking: Asking) => {
    child.stdin.write(`${JSON.stringify(asking)}\n`)
    child.stdin.flush()
    return JSON.parse((await lines.next()).value as string) as Ended
  }
  const warm = warmUp(run)
  return {
    async ask(port, options = {}, url = `http://a.test:${port}/`) {
      await warm
      return await run({ url, options: { ports: [port], ...options } })
    },
    async [Symbol.asyncDispose]() {
      child.kill()
      await child.exited
    },
  }
}

async function warmUp(run: (asking: Asking) => Promise<Ended>): Promise<void> {
  await using open = await site(page(gzipSync("x".repeat(400_000)).toString("latin1"), { "content-encoding": "gzip" }))
  for (let times = 0; times < 3; times++)
    await run({ url: `http://a.test:${open.port}/`, options: { ports: [open.port] } })
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = ""
  for await (const bytes of stream) {
    const lines = (rest + new TextDecoder().decode(bytes)).split("\n")
    rest = lines.pop() as string
    yield* lines
  }
}
