import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type EmbeddedDatabase, openEmbedded } from "../../src/database/embedded/open.ts"
import { silentLog } from "../../src/lib/log.ts"
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
  /** What is piped in; without it stdin is an open pipe that says nothing. */
  stdin?: string
  /** Loaded before the program. */
  preload?: string
  /** What starts the program, where it is not this Bun on main.ts. */
  program?: string[]
  /** It serves without the word for that. */
  wordless?: true
  /** The folder it is started in; some other than the project's when left out. */
  cwd?: string
}

/**
 * Runs a command and waits for its end: in this process, where a start of 0.8 s of CPU becomes one of 0.2 s or less, unless
 * it is one that serves, or the options say how it is started. Nothing of this process' environment is passed on.
 */
export function appmeter(args: string[], options: ChildOptions = {}): Promise<Ended> {
  const { preload, program, cwd } = options
  const ownProcess = preload ?? program ?? cwd ?? SERVING.has(args[0] ?? "")
  return ownProcess ? appmeterProcess(args, options) : runHere(args, options)
}

/** They end their process themselves. */
const SERVING = new Set(["serve", "work", "mcp"])

/** The same in a process of its own in any case, of whose environment only PATH is passed on. */
export async function appmeterProcess(args: string[], options: ChildOptions = {}): Promise<Ended> {
  const child = start(args, options)
  const [code, out, err] = await Promise.all([child.exited, text(child.stdout), text(child.stderr)])
  return { code, out, err }
}

/** Starts the program and leaves it to the caller. */
export function begun(args: string[], options: ChildOptions = {}) {
  return start(args, options)
}

/** The same for a command that answers in JSON and must not fail. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every command
export async function answer(args: string[], options?: ChildOptions): Promise<any> {
  const { code, out, err } = await appmeter([...args, "--json"], options)
  if (code !== 0) throw new Error(`appmeter ${args.join(" ")}: ${code} ${err}`)
  return JSON.parse(out)
}

/** What a curl line answers, run by the shell as pasted; where there is no curl, its words as the shell reads them are sent. */
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
  /** All of stdout so far. */
  out(): string
  err(): string
  pid: number
  kill(signal?: NodeJS.Signals): void
  exited: Promise<number>
}

/** Starts a server on a free port and waits until it says where it is. */
export async function serving(options: ChildOptions, args: string[] = []): Promise<Serving> {
  const words = options.wordless ? args : ["serve", ...args]
  const child = start(words, { ...options, env: { PORT: "0", ...options.env } })
  const [out, err] = [collect(child.stdout), collect(child.stderr)]
  // the last line of what it prints for people, or the end of its JSON document
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

/** A migrated embedded database without a workspace, in a folder of its own: a copy of one that is made once for a schema. */
export async function dataFolder(): Promise<{ DATA_DIR: string }> {
  seed ??= keptSeed()
  return { DATA_DIR: copyOf(await seed) }
}

/** Holds a folder as a server does, until it is closed: commands go through its socket, where opening the folder costs each half a second. */
export function holding(folder: { DATA_DIR: string }): Promise<EmbeddedDatabase> {
  return openEmbedded({ dataDir: folder.DATA_DIR, as: "server", log: silentLog })
}

/** A folder of its own with what another holds, which nobody may have open. */
export function copyOf(folder: string): string {
  const copy = scratch()
  cpSync(folder, copy, { recursive: true })
  return copy
}

/** An empty folder; all of them are removed at the end of the process. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "appmeter-commands-"))
  folders.push(folder)
  return folder
}

/** For `afterAll`. */
export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}

const folders: string[] = []
let seed: Promise<string> | undefined

// Kept between runs under what it follows from: the migrations, and the code that opens and migrates a folder.
async function keptSeed(): Promise<string> {
  // a pattern a folder: Bun.Glob finds nothing by alternatives that hold a slash
  const within = ["sql/**/*.sql", "src/database/**/*.{ts,patch}"]
  const sources = within.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(ROOT)].sort())
  const hash = new Bun.CryptoHasher("sha256")
  for (const path of ["bun.lock", ...sources]) hash.update(path).update(readFileSync(join(ROOT, path)))
  const kept = join(ROOT, "node_modules/.cache", `appmeter-seed-${hash.digest("hex").slice(0, 16)}`)
  if (existsSync(kept)) return kept
  const made = `${kept}.${process.pid}`
  mkdirSync(made, { recursive: true })
  const { code, err } = await appmeter(["migrate"], { env: { DATA_DIR: made } })
  if (code !== 0) throw new Error(err)
  try {
    renameSync(made, kept)
  } catch {
    // another test process was faster
    rmSync(made, { recursive: true, force: true })
  }
  return kept
}

function start(args: string[], { env = {}, stdin, preload, program, cwd = tmpdir() }: ChildOptions) {
  const bun = [process.execPath, ...(preload ? ["--preload", preload] : []), MAIN]
  return Bun.spawn([...(program ?? bun), ...args], {
    cwd,
    // No test reads a store but those that say so, and they bring a stand-in. What is optimised last pays off in servers
    // that live long; in a child of a second it is a fifth of the CPU.
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
