import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type EmbeddedDatabase, openEmbedded } from "../../src/database/embedded/open.ts"
import { silentLog } from "../../src/lib/log.ts"
import { cachedFolder } from "../cached-folder.ts"
import { runHere } from "./here.ts"

const ROOT = join(import.meta.dirname, "../..")
const MAIN = join(ROOT, "src/main.ts")

export interface Ended {
  code: number
  out: string
  err: string
}

export interface ChildOptions {
  env?: Record<string, string>
  /** Text for stdin. Without it stdin is an open pipe without data. */
  stdin?: string
  /** A module to load before the program. */
  preload?: string
  /** The command that starts the program. Default: this Bun with main.ts. */
  program?: string[]
  /** True to start a server without the word "serve". */
  wordless?: true
  /** Working directory. Default: one outside the project. */
  cwd?: string
}

/**
 * Runs a command and waits for its end. It runs in this process, which saves most of the CPU of a start, unless it
 * serves or the options define how it is started. The environment of this process is not passed on.
 */
export function appmeter(args: string[], options: ChildOptions = {}): Promise<Ended> {
  const { preload, program, cwd } = options
  const needsProcess = preload ?? program ?? cwd ?? SERVING.has(args[0] ?? "")
  return needsProcess ? appmeterProcess(args, options) : runHere(args, options)
}

/** Commands that exit their process themselves. */
const SERVING = new Set(["serve", "work", "mcp"])

/** Always runs a command in a separate process. Of the environment, only PATH is passed on. */
export async function appmeterProcess(args: string[], options: ChildOptions = {}): Promise<Ended> {
  const child = start(args, options)
  const [code, out, err] = await Promise.all([child.exited, text(child.stdout), text(child.stderr)])
  return { code, out, err }
}

/** Starts the program without waiting. */
export function startCommand(args: string[], options: ChildOptions = {}) {
  return start(args, options)
}

/** Runs a command with --json and returns its answer. Throws if it fails. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every command
export async function answer(args: string[], options?: ChildOptions): Promise<any> {
  const { code, out, err } = await appmeter([...args, "--json"], options)
  if (code !== 0) throw new Error(`appmeter ${args.join(" ")}: ${code} ${err}`)
  return JSON.parse(out)
}

/** Runs a curl line in the shell and returns the answer. Without curl, sends the request that the line describes. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every operation
export async function pasted(line: string): Promise<any> {
  if (Bun.which("curl")) return JSON.parse(shell(line))
  const words = shell(line.replace(/^\s*curl/, "printf '%s\\n'"))
    .trimEnd()
    .split("\n")
  const header = words[words.indexOf("-H") + 1]?.split(": ") as [string, string]
  return (await fetch(words.at(-1) as string, { headers: words.includes("-H") ? [header] : [] })).json()
}

function shell(line: string): string {
  const { exitCode, stdout } = Bun.spawnSync(["sh", "-c", line])
  if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${line}`)
  return stdout.toString()
}

export interface Serving {
  url: string
  /** Returns stdout so far. */
  out(): string
  err(): string
  pid: number
  kill(signal?: NodeJS.Signals): void
  exited: Promise<number>
}

/** Starts a server on a free port and waits until it prints its address. */
export async function serving(options: ChildOptions, args: string[] = []): Promise<Serving> {
  const words = options.wordless ? args : ["serve", ...args]
  const child = start(words, { ...options, env: { PORT: "0", ...options.env } })
  const [out, err] = [collect(child.stdout), collect(child.stderr)]
  // the last line of the welcome, or the end of its JSON document
  while (!/Reference and manual|\n}\n/.test(out.text)) {
    if (child.exitCode !== null) throw new Error(`serve ended: ${child.exitCode} ${err.text}`)
    await Bun.sleep(20)
  }
  return {
    url: /runs at (\S+)|"url": "([^"]+)"/.exec(out.text)!.slice(1).find(Boolean)!,
    out: () => out.text,
    err: () => err.text,
    pid: child.pid,
    kill: (signal = "SIGTERM") => child.kill(signal),
    exited: child.exited.then(async (code) => {
      await Promise.all([out.done, err.done])
      return code
    }),
  }
}

/** Creates a folder with a migrated embedded database without a workspace, copied from one per schema. */
export async function dataFolder(): Promise<{ DATA_DIR: string }> {
  seed ??= cachedSeed()
  return { DATA_DIR: copyOf(await seed) }
}

/**
 * Opens a folder like a server, so that commands go through its socket. Opening it in each command would take half a
 * second.
 */
export function openFolder(folder: { DATA_DIR: string }): Promise<EmbeddedDatabase> {
  return openEmbedded({ dataDir: folder.DATA_DIR, as: "server", log: silentLog })
}

/** Copies a folder, which must not be open. */
export function copyOf(folder: string): string {
  const copy = scratch()
  cpSync(folder, copy, { recursive: true })
  return copy
}

/** Creates an empty folder. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "appmeter-commands-"))
  folders.push(folder)
  return folder
}

/** Removes all created folders; call it in `afterAll`. */
export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}

const folders: string[] = []
let seed: Promise<string> | undefined

/** Caches the migrated folder per version of the schema and of the code that opens and migrates a folder. */
const cachedSeed = () =>
  cachedFolder("seed", { patterns: ["sql/**/*.sql", "src/database/**/*.{ts,patch}"] }, async (folder) => {
    const { code, err } = await appmeter(["migrate"], { env: { DATA_DIR: folder } })
    if (code !== 0) throw new Error(err)
  })

function start(args: string[], { env = {}, stdin, preload, program, cwd = tmpdir() }: ChildOptions) {
  const bun = [process.execPath, ...(preload ? ["--preload", preload] : []), MAIN]
  return Bun.spawn([...(program ?? bun), ...args], {
    cwd,
    // A test reads no store unless it sets MEASURE, with a stand-in. The last JIT tier pays off only in long-lived
    // servers; in a child process of a second it would take a fifth of the CPU.
    env: { PATH: process.env.PATH ?? "", MEASURE: "no", BUN_JSC_useOMGJIT: "0", ...env },
    stdin: stdin === undefined ? "pipe" : new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
  })
}

const text = (stream: ReadableStream) => new Response(stream).text()

function collect(stream: ReadableStream<Uint8Array>): { text: string; done: Promise<void> } {
  const decoder = new TextDecoder()
  const collected = { text: "", done: Promise.resolve() }
  collected.done = (async () => {
    for await (const chunk of stream) collected.text += decoder.decode(chunk, { stream: true })
  })()
  return collected
}
