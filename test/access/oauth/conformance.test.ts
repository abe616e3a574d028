import { expect } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freshDatabase } from "../../database.ts"
import { afterSlow, beforeSlow, slow } from "../../long.ts"
import { register } from "./scene.ts"
import { consentOf, type ServedService, serveAt } from "./served.ts"

// Runs the official conformance suite for authorization servers. It prints a URL for a browser, which this test
// simulates.

const SUITE = join(import.meta.dirname, "../../../node_modules/@modelcontextprotocol/conformance/dist/index.js")
let directory: string
let served: ServedService

beforeSlow(async () => {
  directory = mkdtempSync(join(tmpdir(), "appmeter-oauth-"))
  served = serveAt(await freshDatabase())
})
afterSlow(() => {
  served.stop()
  rmSync(directory, { recursive: true, force: true })
})

interface Check {
  id: string
  status: string
  errorMessage?: string
}

slow(
  "every scenario of the conformance suite for authorization servers passes without a warning",
  async () => {
    const port = await freePort()
    const clientId = await register(served.service, [`http://127.0.0.1:${port}/callback`])
    const workspaceId = await served.service.workspace()
    const child = Bun.spawn(
      [
        process.execPath,
        SUITE,
        "authorization",
        "--url",
        served.url,
        "--client-id",
        clientId,
        "--resource",
        `${served.url}/mcp`,
        "-p",
        String(port),
        "-o",
        directory,
      ],
      { stdout: "pipe", stderr: "pipe", timeout: 40_000 },
    )
    const opened = new Set<string>()
    let output = ""
    const play = async (stream: ReadableStream<Uint8Array>) => {
      const decoder = new TextDecoder()
      for await (const chunk of stream) {
        output += decoder.decode(chunk)
        for (const [address] of output.matchAll(/http:\/\/127\.0\.0\.1:\d+\/oauth\/authorize\?\S+/g)) {
          if (opened.has(address)) continue
          opened.add(address)
          await fetch(await consentOf(served, workspaceId, new URL(address)))
        }
      }
    }
    await Promise.all([play(child.stdout), play(child.stderr), child.exited])
    const checks = readdirSync(directory, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith("checks.json"))
      .flatMap((name) => JSON.parse(readFileSync(join(directory, name), "utf8")) as Check[])
    const ids = checks.map(({ id }) => id)
    expect([ids.includes("authorization-code-grant"), ids.length > 2, opened.size]).toEqual([true, true, 1])
    expect(checks.filter(({ status }) => status !== "SUCCESS" && status !== "INFO")).toEqual([])
  },
  60_000,
)

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  const { port } = server.address() as { port: number }
  await new Promise((closed) => server.close(closed))
  return port
}
