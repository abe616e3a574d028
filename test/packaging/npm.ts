import { chmodSync, copyFileSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { noticesOf } from "./notices.ts"
import { productionPackages } from "./production-packages.ts"

const ROOT = join(import.meta.dirname, "../..")

/** A program of a release and its target machine, such as "linux-x64". */
export interface TargetProgram {
  file: string
  target: string
}

/**
 * Writes the npm packages of a release, each into a folder of its own: one per target machine with its program, and
 * "appmeter", which depends on all of them and starts the one that npm could install.
 */
export function writeNpmPackages(into: string, version: string, programs: readonly TargetProgram[]): void {
  rmSync(into, { recursive: true, force: true })
  for (const { file, target } of programs) writeProgram(join(into, `appmeter-${target}`), version, file, target)
  const folder = packageFolder(into, "appmeter")
  copyFileSync(join(import.meta.dirname, "npm-launcher.cjs"), join(folder, "appmeter.cjs"))
  writeManifest(folder, {
    ...sharedFields("appmeter", version),
    bin: { appmeter: "appmeter.cjs" },
    files: ["appmeter.cjs"],
    engines: { node: ">=18" },
    optionalDependencies: Object.fromEntries(programs.map(({ target }) => [`appmeter-${target}`, version])),
  })
}

const SYSTEMS: Record<string, string> = { linux: "linux", darwin: "darwin", windows: "win32" }

function writeProgram(path: string, version: string, program: string, target: string): void {
  const [system = "", cpu = "", musl] = target.split("-")
  const folder = packageFolder(path, "")
  const file = system === "windows" ? "appmeter.exe" : "appmeter"
  linkSync(program, join(folder, file))
  chmodSync(join(folder, file), 0o755)
  writeFileSync(join(folder, "NOTICES"), noticesOf(version, productionPackages()))
  writeManifest(folder, {
    ...sharedFields(`appmeter-${target}`, version),
    files: [file, "NOTICES"],
    os: [SYSTEMS[system]],
    cpu: [cpu],
    ...(system === "linux" && { libc: [musl === undefined ? "glibc" : "musl"] }),
  })
}

function packageFolder(into: string, name: string): string {
  const folder = join(into, name)
  mkdirSync(folder, { recursive: true })
  copyFileSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"))
  return folder
}

function sharedFields(name: string, version: string): object {
  const { description, license } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"))
  return { name, version, description, license }
}

function writeManifest(folder: string, manifest: object): void {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
}
