import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { MCPB_PROGRAM } from "../../src/commands/packaging/mcpb.ts"
import { commitOf, versionOf } from "../../src/database/assets.ts"
import { runHere } from "../commands/here.ts"
import { noticesOf } from "./notices.ts"
import { writeNpmPackages } from "./npm.ts"
import { type Package, productionPackages } from "./production-packages.ts"
import { sbomOf } from "./sbom.ts"
import { releaseKey, signFile } from "./signing.ts"

const ROOT = join(import.meta.dirname, "../..")

/**
 * Writes the published files for the programs in `folder`: an archive per machine, the bill of materials, SHA256SUMS
 * and, if the environment names a key, its signature. The same commit gives the same bytes. Programs without a target
 * in their name are for `hostTarget`. Returns a line for each file. Throws if tar, xz or zip is missing. Tests use the
 * quickest preset of xz.
 */
export async function writeRelease(folder: string, hostTarget: string, preset = 3): Promise<string[]> {
  const version = versionOf()
  const key = releaseKey(process.env)
  const programs = readdirSync(folder)
    .filter((name) => /^appmeter(?:-[a-z0-9-]+)?(?:\.exe)?$/.test(name))
    .sort()
  assertPrograms(programs)
  const packages = productionPackages()
  const stage = mkdtempSync(join(tmpdir(), "appmeter-stage-"))
  try {
    await writeCommonFiles(join(stage, "common"), version, packages)
    const targets = programs.map((program) => {
      return { file: join(folder, program), target: /^appmeter-([a-z0-9-]+)/.exec(program)?.[1] ?? hostTarget }
    })
    const files: string[] = []
    for (const { file, target } of targets) {
      const name = `appmeter-${version}-${target}`
      files.push(archive(file, stage, name, folder, preset))
      if (isDesktop(target)) files.push(await bundle(file, stage, name, folder))
    }
    writeNpmPackages(join(folder, "npm"), version, targets)
    const sbom = `appmeter-${version}.cdx.json`
    writeFileSync(join(folder, sbom), sbomOf(version, packages))
    files.push(sbom)
    const sums = files.map((file) => `${sha256Of(join(folder, file))}  ${file}\n`)
    writeFileSync(join(folder, "SHA256SUMS"), sums.join(""))
    const signed = key ? signFile(folder, "SHA256SUMS", key) : []
    return [...files, "SHA256SUMS", ...signed].map((file) => `${file}: ${sizeOf(join(folder, file))}`)
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

function assertPrograms(programs: readonly string[]): void {
  const needed = ["tar", "xz", ...(programs.some((program) => /darwin|windows/.test(program)) ? ["zip"] : [])]
  const missing = needed.filter((name) => !Bun.which(name))
  if (missing.length > 0) throw new Error(`install ${missing.join(" and ")} to make archives`)
}

/** The systems on which desktop assistants run and install bundles. */
const isDesktop = (target: string) => /^(darwin|windows)-/.test(target)

const isWindows = (program: string) => program.endsWith(".exe")

/** Writes the files that every archive has. Completions and the unit come from the commands that print them. */
async function writeCommonFiles(folder: string, version: string, packages: readonly Package[]): Promise<void> {
  mkdirSync(join(folder, "completions"), { recursive: true })
  copyFileSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"))
  const readme = readFileSync(join(import.meta.dirname, "archive-readme.md"), "utf8")
  const filled = readme.replace("{{version}}", version).replace("{{commit}}", commitOf() ?? "unknown")
  writeFileSync(join(folder, "README.md"), filled)
  writeFileSync(join(folder, "NOTICES"), noticesOf(version, packages))
  writeFileSync(join(folder, "appmeter.service"), await printed(["packaging", "systemd"]))
  writeFileSync(join(folder, "completions/appmeter.bash"), await printed(["completion", "bash"]))
  writeFileSync(join(folder, "completions/_appmeter"), await printed(["completion", "zsh"]))
  writeFileSync(join(folder, "completions/appmeter.fish"), await printed(["completion", "fish"]))
}

/** Runs a command without the settings of the current user. */
async function printed(args: string[]): Promise<string> {
  const { code, out, err } = await runHere(args, {})
  if (code !== 0) throw new Error(`${args.join(" ")}: ${err}`)
  return out
}

/** Packs a program with the common files and returns the name of the archive. */
function archive(program: string, stage: string, name: string, into: string, preset: number): string {
  const folder = join(stage, name)
  cpSync(join(stage, "common"), folder, { recursive: true })
  const suffix = isWindows(program) ? ".exe" : ""
  copyFileSync(program, join(folder, `appmeter${suffix}`))
  const file = `${name}${suffix ? ".zip" : ".tar.xz"}`
  const list = settled(stage, name)
  const target = quoted(join(into, file))
  if (suffix) zip(list, stage, join(into, file))
  else
    run(
      `tar --no-recursion --format=ustar --owner=0 --group=0 --numeric-owner -c -T - | xz -${preset} -T1 > ${target}`,
      stage,
      list,
    )
  rmSync(folder, { recursive: true })
  return file
}

/** Packs a program for desktop assistants, with their manifest, and returns the name of the bundle. */
async function bundle(program: string, stage: string, name: string, into: string): Promise<string> {
  const folder = join(stage, name)
  const inner = join(folder, `${MCPB_PROGRAM}${isWindows(program) ? ".exe" : ""}`)
  mkdirSync(dirname(inner), { recursive: true })
  copyFileSync(program, inner)
  for (const file of ["LICENSE", "NOTICES"]) copyFileSync(join(stage, "common", file), join(folder, file))
  writeFileSync(join(folder, "manifest.json"), await printed(["packaging", "mcpb"]))
  const file = `${name}.mcpb`
  zip(settled(folder, "."), folder, join(into, file))
  rmSync(folder, { recursive: true })
  return file
}

/** Gives all files in a folder the same mode and time in each build. Returns the sorted paths, one per line. */
function settled(parent: string, name: string): string {
  const folder = join(parent, name)
  const paths = pathsIn(folder)
  for (const path of paths) {
    const isProgram = statSync(path).isDirectory() || /\/appmeter(\.exe)?$/.test(path)
    chmodSync(path, isProgram ? 0o755 : 0o644)
    utimesSync(path, buildTime(), buildTime())
  }
  const listed = paths.map((path) => relative(parent, path)).filter((path) => path !== "")
  return `${listed.sort().join("\n")}\n`
}

function zip(list: string, cwd: string, file: string): void {
  rmSync(file, { force: true })
  run(`zip -X -9 -q ${quoted(file)} -@`, cwd, list)
}

function pathsIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((entry) => join(folder, entry))
  return [folder, ...entries]
}

/**
 * Returns the time of the commit, so that the same commit gives the same archives. SOURCE_DATE_EPOCH overrides it, as
 * in other reproducible builds. Without either, returns the earliest time of a zip file.
 */
function buildTime(): number {
  const epoch = Number(process.env.SOURCE_DATE_EPOCH)
  if (epoch > 0) return epoch
  const { exitCode, stdout } = Bun.spawnSync(["git", "-C", ROOT, "log", "-1", "--format=%ct"])
  return exitCode === 0 ? Number(stdout.toString()) : Date.UTC(1980, 0, 1) / 1_000
}

/** A zip file has local times, so the time zone is fixed. */
function run(script: string, cwd: string, stdin: string): void {
  const { exitCode, stderr } = Bun.spawnSync(["bash", "-o", "pipefail", "-c", script], {
    cwd,
    stdin: new Blob([stdin]),
    env: { PATH: process.env.PATH ?? "", TZ: "UTC", LC_ALL: "C" },
  })
  if (exitCode !== 0) throw new Error(`${script}: ${stderr}`)
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`
}

function sha256Of(file: string): string {
  return new Bun.CryptoHasher("sha256").update(readFileSync(file)).digest("hex")
}

function sizeOf(file: string): string {
  const { size } = statSync(file)
  return size < 1e6 ? `${Math.ceil(size / 1e3)} KB` : `${Math.round(size / 1e6)} MB`
}
