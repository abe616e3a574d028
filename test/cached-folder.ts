import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"

const ROOT = join(import.meta.dirname, "..")
const CACHE = join(ROOT, "node_modules/.cache")

/**
 * Returns a folder that `make` fills. The folder is cached between runs and processes until a file that matches
 * `patterns`, a package or `more` changes.
 */
export async function cachedFolder(
  name: string,
  { patterns, more = "" }: { patterns: readonly string[]; more?: string },
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const prefix = `appmeter-${name}-`
  const hash = new Bun.CryptoHasher("sha256").update(more)
  // one pattern per folder: Bun.Glob does not match alternatives that contain a slash
  const paths = patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(ROOT)].sort())
  for (const path of ["bun.lock", ...paths]) hash.update(path).update(readFileSync(join(ROOT, path)))
  const folder = join(CACHE, prefix + hash.digest("hex").slice(0, 16))
  if (existsSync(folder)) return folder
  mkdirSync(CACHE, { recursive: true })
  const stale = readdirSync(CACHE).filter((entry) => entry.startsWith(prefix) && !entry.includes("."))
  const temporary = `${folder}.${process.pid}`
  mkdirSync(temporary)
  await make(temporary)
  try {
    renameSync(temporary, folder)
  } catch {
    // another test process made it first
    rmSync(temporary, { recursive: true, force: true })
  }
  for (const entry of stale) rmSync(join(CACHE, entry), { recursive: true, force: true })
  return folder
}
