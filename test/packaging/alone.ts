import { copyFileSync, linkSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { build, type Contents } from "./build.ts"

/** The binary where nothing else is: as root on Linux in a root directory of its own that holds only libc beside it. */
export interface Alone {
  where: "empty folder" | "empty root"
  /** The folder it is started in. */
  folder: string
  /** What the build put into it. */
  contents: Contents
  start(args: string[], options?: StartOptions): Started
  /** Runs it to its end. */
  run(args: string[], options?: StartOptions): Promise<{ code: number; out: string; err: string }>
  remove(): void
}

export interface StartOptions {
  env?: Record<string, string>
  stdin?: string
  /** A command that runs it, such as a tracer. */
  under?: string[]
}

export interface Started {
  out(): string
  err(): string
  kill(signal?: NodeJS.Signals): void
  exited: Promise<number>
}

/** Builds the binary, once in a process however many ask, and puts it there. */
export async function buildAlone(): Promise<Alone> {
  const scratch = mkdtempSync(join(tmpdir(), "appmeter-alone-"))
  const binary = join(scratch, "appmeter")
  built ??= buildOnce()
  const { file, contents } = await built
  linkSync(file, binary)
  const root = emptyRoot(scratch, binary)
  const command = root ? [...OWN_ROOT, root, "/appmeter"] : [binary]
  const folder = root ?? join(scratch, "empty")
  mkdirSync(folder, { recursive: true })
  const start = (args: string[], { env = {}, stdin = "", under = [] }: StartOptions = {}): Started => {
    const child = Bun.spawn([...under, ...command, ...args], {
      cwd: folder,
      env: { PATH: "", ...env },
      stdin: new Blob([stdin]),
      stdout: "pipe",
      stderr: "pipe",
    })
    const [out, err] = [collect(child.stdout), collect(child.stderr)]
    const exited = child.exited.then(async (code) => {
      await Promise.all([out.done, err.done])
      return code
    })
    return { out: () => out.text, err: () => err.text, kill: (signal) => child.kill(signal), exited }
  }
  return {
    where: root ? "empty root" : "empty folder",
    folder,
    contents,
    start,
    async run(args, options) {
      const { exited, out, err } = start(args, options)
      return { code: await exited, out: out(), err: err() }
    },
    remove: () => rmSync(scratch, { recursive: true, force: true }),
  }
}

interface Built {
  file: string
  contents: Contents
}

let built: Promise<Built> | undefined

async function buildOnce(): Promise<Built> {
  const folder = mkdtempSync(join(tmpdir(), "appmeter-built-"))
  removeAfterwards(folder)
  const file = join(folder, "appmeter")
  return { file, contents: await build(file) }
}

// `bun test` runs no exit handlers: another process waits for the end of this one's pipe.
function removeAfterwards(folder: string): void {
  const remove = `
    for await (const _ of Bun.stdin.stream()) continue
    require("node:fs").rmSync(process.argv[1], { recursive: true, force: true })`
  Bun.spawn([process.execPath, "-e", remove, folder], { stdio: ["pipe", "ignore", "ignore"], detached: true }).unref()
}

// The mount of /proc, without which Bun does not start, is seen by nobody else and ends with the process.
const OWN_ROOT = [
  Bun.which("unshare") ?? "",
  "--mount",
  "/bin/sh",
  "-c",
  `${Bun.which("mount")} -t proc proc "$0/proc" && exec ${Bun.which("chroot")} "$0" "$@"`,
]

/** Null where we may not, or where it does not work. */
function emptyRoot(scratch: string, binary: string): string | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return null
  const root = join(scratch, "root")
  for (const folder of ["proc", "dev", "tmp"]) mkdirSync(join(root, folder), { recursive: true })
  linkSync(binary, join(root, "appmeter"))
  const libraries = Bun.spawnSync(["ldd", binary]).stdout.toString().match(/\/\S+/g) ?? []
  for (const library of libraries.filter((path) => path !== binary)) {
    mkdirSync(join(root, dirname(library)), { recursive: true })
    copyFileSync(library, join(root, library))
  }
  Bun.spawnSync(["mknod", "-m", "666", join(root, "dev/null"), "c", "1", "3"])
  Bun.spawnSync(["mknod", "-m", "444", join(root, "dev/urandom"), "c", "1", "9"])
  return Bun.spawnSync([...OWN_ROOT, root, "/appmeter", "--version"]).exitCode === 0 ? root : null
}

function collect(stream: ReadableStream<Uint8Array>): { text: string; done: Promise<void> } {
  const decoder = new TextDecoder()
  const collected = { text: "", done: Promise.resolve() }
  collected.done = (async () => {
    for await (const chunk of stream) collected.text += decoder.decode(chunk, { stream: true })
  })()
  return collected
}
