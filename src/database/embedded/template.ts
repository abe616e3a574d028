import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { PGlite } from "@electric-sql/pglite"
import { carried, loadEngine, packageFolder, unpacked } from "./engine.ts"
import { tarHeader, tarPadding } from "./tar.ts"

/**
 * A finished data directory as a tar, so that a first start needs no initdb (3 s, 900 MB of memory): the binary's own, or
 * what an earlier first start of this checkout kept in node_modules/.cache. Null when there is none yet.
 */
export function findTemplate(): Uint8Array<ArrayBuffer> | null {
  const own = carried(TEMPLATE)
  if (own) return own
  try {
    return unpacked(keptPath())
  } catch {
    return null
  }
}

/** The same, made where there is none, and kept where that is possible. */
export async function templateOf(): Promise<Uint8Array<ArrayBuffer>> {
  const found = findTemplate()
  if (found) return found
  const made = await makeTemplate()
  keep(made)
  return made
}

/** The name of the template in the binary. */
export const TEMPLATE = "template.tar"

/** Runs initdb in memory, shuts down in order, so that the first open recovers nothing, and packs what it left. */
export async function makeTemplate(): Promise<Uint8Array<ArrayBuffer>> {
  const cluster = await PGlite.create({
    ...(await loadEngine({ initdb: true })),
    // 1 MB log segments, and none kept for later: the fresh directory is 24 MB instead of 39
    initDbStartParams: ["--wal-segsize=1", "--no-instructions"],
    startParams: [...PGlite.defaultStartParams, "-c", "min_wal_size=2MB", "-c", "max_wal_size=2MB"],
  })
  await cluster.exec("vacuum freeze")
  const { FS } = (cluster as unknown as { Module: { FS: Files } }).Module
  await cluster.close()
  return new Uint8Array(Buffer.concat([...packed(FS, DATA, ""), Buffer.alloc(1_024)]))
}

/** What of Emscripten's file system is used here. */
interface Files {
  readdir(path: string): string[]
  readFile(path: string): Uint8Array
  stat(path: string): { mode: number }
  isDir(mode: number): boolean
}

// where PGlite keeps it in its own file system
const DATA = "/pglite/data"

function* packed(files: Files, from: string, to: string): Generator<Uint8Array> {
  for (const name of files.readdir(from).sort()) {
    if (name === "." || name === ".." || name === "postmaster.pid") continue
    const [path, inTar] = [`${from}/${name}`, `${to}${name}`]
    if (files.isDir(files.stat(path).mode)) {
      yield tarHeader(`${inTar}/`, 0)
      yield* packed(files, path, `${inTar}/`)
    } else {
      const bytes = files.readFile(path)
      yield tarHeader(inTar, bytes.length)
      yield bytes
      yield tarPadding(bytes.length)
    }
  }
}

function keptPath(): string {
  const folder = packageFolder()
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }
  return join(folder, "../../.cache", `appmeter-template-${version}.tar.zst`)
}

// A checkout that nobody may write to makes it again the next time.
function keep(template: Uint8Array<ArrayBuffer>): void {
  try {
    const path = keptPath()
    mkdirSync(join(path, ".."), { recursive: true })
    writeFileSync(`${path}.${process.pid}`, Bun.zstdCompressSync(template, { level: 3 }))
    renameSync(`${path}.${process.pid}`, path)
  } catch {}
}
