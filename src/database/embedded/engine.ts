import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import type { PGliteOptions } from "@electric-sql/pglite"

/**
 * Loads PGlite's files. PGlite looks for them next to its code, where a binary has no files. `initdb` is needed for a
 * new directory.
 */
export async function loadEngine({ initdb, code }: EngineParts): Promise<PGliteOptions> {
  const compiling = [code ?? compile("pglite.wasm"), ...(initdb ? [compile("initdb.wasm")] : [])]
  const fsBundle = new Blob([engineFile("pglite.data")])
  const [pgliteWasmModule, initdbWasmModule = pgliteWasmModule] = await Promise.all(compiling)
  // Without `initdb`, the initdb module is never run, but PGlite would search for it if it were missing.
  return { pgliteWasmModule: pgliteWasmModule!, initdbWasmModule: initdbWasmModule!, fsBundle }
}

interface EngineParts {
  initdb: boolean
  code?: WebAssembly.Module | undefined
}

/** Reads a file of PGlite. A binary contains these files compressed, because `bun run build` embeds them. */
export function engineFile(name: string): Uint8Array<ArrayBuffer> {
  return carried(name) ?? new Uint8Array(readFileSync(join(packageFolder(), "dist", name)))
}

/** Reads a file that only a binary contains. Null in a checkout. */
export function carried(name: string): Uint8Array<ArrayBuffer> | null {
  const path = join(import.meta.dirname, CARRIED, `${name}.zst`)
  return existsSync(path) ? unpacked(path) : null
}

export const CARRIED = "engine-files"

/** Decompresses a file written with `Bun.zstdCompressSync`. */
export function unpacked(path: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Bun.zstdDecompressSync(readFileSync(path)))
}

export function packageFolder(): string {
  return join(dirname(createRequire(import.meta.url).resolve("@electric-sql/pglite")), "..")
}

const compile = (name: string) => WebAssembly.compile(engineFile(name))
