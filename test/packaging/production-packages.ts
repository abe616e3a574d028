import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const ROOT = join(import.meta.dirname, "../..")

export interface Package {
  name: string
  version: string
  /** SPDX id or expression. */
  licence: string
  /** Null if the package names no author. */
  author: string | null
  /** "sha512-…", as in the lock file. */
  integrity: string
  /** Text of the package's licence file. Null if it has none. */
  licenceText: string | null
  /** Text of the package's NOTICE file, which the Apache License requires to be passed on. Null if it has none. */
  noticeText: string | null
}

interface Lock {
  workspaces: Record<string, { dependencies: Record<string, string> }>
  packages: Record<string, LockedPackage>
}

type LockedPackage = [
  id: string,
  registry: string,
  needs: { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> },
  integrity: string,
]

/** Returns every package of a production install by name, without peer and development packages. */
export function productionPackages(): Package[] {
  const lock = readLock()
  const found = new Map<string, Package>()
  const pending = Object.keys(lock.workspaces[""]!.dependencies).map((name) => ({ name, parents: [] as string[] }))
  while (pending.length > 0) {
    const { name, parents } = pending.pop()!
    const path = pathIn(lock, name, parents)
    if (found.has(path)) continue
    const [id, , { dependencies, optionalDependencies }, integrity] = lock.packages[path]!
    found.set(path, describe(name, id.slice(name.length + 1), path, integrity))
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies }))
      pending.push({ name: needed, parents: [...parents, name] })
  }
  return [...found.values()].sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1))
}

/** The lock file is JSON with trailing commas. */
function readLock(): Lock {
  return Bun.JSONC.parse(readFileSync(join(ROOT, "bun.lock"), "utf8")) as Lock
}

/**
 * Returns the path of a package in the lock file. A package that is installed below another one is locked under both
 * names.
 */
function pathIn(lock: Lock, name: string, parents: readonly string[]): string {
  for (let depth = parents.length; depth > 0; depth--) {
    const path = [...parents.slice(0, depth), name].join("/")
    if (lock.packages[path]) return path
  }
  return name
}

function describe(name: string, version: string, path: string, integrity: string): Package {
  const folder = folderOf(path)
  const { license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    license: string
    author?: string | { name: string }
  }
  const written = typeof author === "string" ? author : author?.name
  return {
    name,
    version,
    licence: license,
    author: written?.replace(/ *[<(].*/, "") ?? null,
    integrity,
    licenceText: textIn(folder, /^(licen[cs]e|copying)(\.(md|txt))?$/i),
    noticeText: textIn(folder, /^notice(\.(md|txt))?$/i),
  }
}

/** "a/@b/c" in the lock file is the folder "a/node_modules/@b/c". */
function folderOf(path: string): string {
  const names = path.match(/(?:@[^/]+\/)?[^/]+/g)!
  return join(ROOT, "node_modules", names.join("/node_modules/"))
}

function textIn(folder: string, pattern: RegExp): string | null {
  const name = readdirSync(folder).find((entry) => pattern.test(entry))
  return name === undefined ? null : readFileSync(join(folder, name), "utf8").replaceAll("\r\n", "\n").trim()
}
