import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import type { PGliteOptions } from "@electric-sql/pglite"

/** PGlite looks beside its own code, which a binary does not have on any disk. `initdb`: what a new directory needs. */
export async function loadEngine({ initdb, code }: EngineParts): Promise<PGliteOptions> {
  const compiling = [code ?? compile("pglite.wasm"), ...(initdb ? [compile("initdb.wasm")] : [])]
  const fsBundle = new Blob([engineFile("pglite.data")])
  const [pgliteWasmModule, initdbWasmModule = pgliteWasmModule] = await Promise.all(compiling)
  // without initdb the second is never run; left out, it would be looked for
  return { pgliteWasmModule: pgliteWasmModule!, initdbWasmModule: initdbWasmModule!, fsBundle }
}

interface EngineParts {
  initdb: boolean
  code?: WebAssembly.Module | undefined
}

/** One of its files. `bun run build` puts them into the binary, compressed. */
export function engineFile(name: string): Uint8Array<ArrayBuffer> {
  return carried(name) ?? new Uint8Array(readFileSync(join(packageFolder(), "dist", name)))
}

/** A file that only a binary carries; null in a checkout. */
export function carried(name: string): Uint8Array<ArrayBuffer> | null {
  const path = join(import.meta.dirname, CARRIED, `${name}.zst`)
  return existsSync(path) ? unpacked(path) : null
}

export const CARRIED = "engine-files"

/** What `Bun.zstdCompressSync` wrote. */
export function unpacked(path: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Bun.zstdDecompressSync(readFileSync(path)))
}

export function packageFolder(): string {
  return join(dirname(createRequire(import.meta.url).resolve("@electric-sql/pglite")), "..")
}

const compile = (name: string) => WebAssembly.compile(engineFile(name))
