import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"

/** The answer of one build to one request. */
export interface Answer {
  status: number
  headers: Record<string, string>
  text: string
}

export interface CliResult {
  code: number
  out: string
  err: string
}

export interface Server {
  url: string
  stop(): Promise<void>
}

/** A build with a data folder of its own. */
export interface Build {
  name: "old" | "new"
  folder: string
  /** Runs a command of the binary until it ends. */
  cli(args: string[], input?: string): Promise<CliResult>
  serve(): Promise<Server>
  remove(): void
}

export interface BuildOptions {
  name: "old" | "new"
  binary: string
  folder: string
  /** Settings in addition to those that all builds of a run share. */
  env?: Record<string, string>
}

/** Both builds must be able to decrypt the secrets of a restored world. */
const SECRET_KEY = createHash("sha256").update("replay").digest("base64")

export function openBuild({ name, binary, folder, env = {} }: BuildOptions): Build {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const settings = {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    DATA_DIR: join(folder, "data"),
    PORT: String(freePort()),
    PUBLIC_URL: "http://replay.example",
    MEASURE: "no",
    DELIVER: "no",
    SANDBOX_PER_SECOND: "1000000",
    SECRET_KEY,
    ...env,
  }
  return {
    name,
    folder,
    async cli(args, input) {
      const child = Bun.spawn([binary, ...args], {
        cwd: folder,
        env: settings,
        stdin: input === undefined ? "ignore" : new Blob([input]),
        stdout: "pipe",
        stderr: "pipe",
      })
      const [code, out, err] = await Promise.all([
        child.exited,
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ])
      return { code, out, err }
    },
    async serve() {
      const log = join(folder, "serve.log")
      // the log of an earlier start also contains "listening"
      rmSync(log, { force: true })
      const child = Bun.spawn([binary, "serve", "--json"], {
        cwd: folder,
        env: settings,
        stdin: "ignore",
        stdout: Bun.file(join(folder, "serve.out")),
        stderr: Bun.file(log),
      })
      await untilListening(child, log)
      return {
        url: `http://127.0.0.1:${settings.PORT}`,
        async stop() {
          child.kill("SIGTERM")
          await child.exited
        },
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Runs a command that must succeed, and returns its JSON document. */
// biome-ignore lint/suspicious/noExplicitAny: documents of either build, whose types may differ
export async function cliJson(build: Build, args: string[], input?: string): Promise<Record<string, any>> {
  const { code, out, err } = await build.cli([...args, "--json"], input)
  if (code !== 0) throw new Error(`${build.name}: "appmeter ${args.join(" ")}" ended with ${code}: ${err || out}`)
  return JSON.parse(out)
}

export async function send(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, { redirect: "manual", ...init })
  const text = await response.text()
  return { status: response.status, headers: Object.fromEntries(response.headers), text }
}

async function untilListening(child: Bun.Subprocess, log: string): Promise<void> {
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline && child.exitCode === null) {
    const text = existsSync(log) ? readFileSync(log, "utf8") : ""
    if (text.includes('"event":"listening"')) return
    await Bun.sleep(20)
  }
  throw new Error(`A server did not start: ${readFileSync(log, "utf8").slice(-2_000)}`)
}

/** Links contain PUBLIC_URL, which is the same for both builds, so the port is not in the log. */
function freePort(): number {
  const probe = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() })
  const { port } = probe
  probe.stop(true)
  return port!
}
