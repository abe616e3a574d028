import { copyFileSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { commitOf } from "../../src/database/assets.ts"
import { cachedFolder } from "../cached-folder.ts"
import { build, type Contents } from "./build.ts"

/** The binary in isolation: on Linux it runs as root in a root directory that contains only libc and the binary. */
export interface Alone {
  where: "empty folder" | "empty root"
  /** The folder in which the binary starts. */
  folder: string
  /** The contents that the build embedded. */
  contents: Contents
  start(args: string[], options?: StartOptions): Started
  /** Runs the binary until it ends. */
  run(args: string[], options?: StartOptions): Promise<{ code: number; out: string; err: string }>
  remove(): void
}

export interface StartOptions {
  env?: Record<string, string>
  stdin?: string
  /** A command that runs the binary, such as a tracer. */
  under?: string[]
}

export interface Started {
  out(): string
  err(): string
  kill(signal?: NodeJS.Signals): void
  exited: Promise<number>
}

/** Copies the binary to the folder. */
export async function buildAlone(): Promise<Alone> {
  const scratch = mkdtempSync(join(tmpdir(), "appmeter-alone-"))
  const binary = join(scratch, "appmeter")
  const { file, contents } = await builtProgram()
  copyFileSync(file, binary)
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

/** Builds the program once for all test processes and runs, until one of its files changes. */
export async function builtProgram(): Promise<Built> {
  const patterns = ["src/**/*", "sql/**/*", "fixtures/**/*", "test/packaging/*.ts", "package.json", "LICENSE"]
  const folder = await cachedFolder("built", { patterns, more: `${Bun.version} ${commitOf()}` }, async (target) => {
    const contents = await build(join(target, PROGRAM))
    writeFileSync(join(target, CONTENTS), JSON.stringify(contents))
  })
  return { file: join(folder, PROGRAM), contents: JSON.parse(readFileSync(join(folder, CONTENTS), "utf8")) }
}

const PROGRAM = "appmeter"
const CONTENTS = "contents.json"

// The mount of /proc, without which Bun does not start, is visible only to this process and ends with it.
const OWN_ROOT = [
  Bun.which("unshare") ?? "",
  "--mount",
  "/bin/sh",
  "-c",
  `${Bun.which("mount")} -t proc proc "$0/proc" && exec ${Bun.which("chroot")} "$0" "$@"`,
]

/**
 * Returns a root directory that contains only libc and the binary. Null if the rights to make it are missing or the
 * binary does not start in it.
 */
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

// the gate runs this file before the tests, which would otherwise all build the program at once
if (import.meta.main) await builtProgram()
