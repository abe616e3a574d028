// bun run build [--all] [--release | --pack] [--into FOLDER] — the program as one file with everything inside; with --all for other
// machines too, with --release compressed as well, with the checksums beside; --pack compresses what the folder holds already.
import {
  existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync,
} from "node:fs" // biome-ignore format: a list to scan
import { basename, dirname, join, relative } from "node:path"
import { parseArgs } from "node:util"
import { OCR_FILES, packagedEnglish, packagedWasm } from "../../src/commands/process/pictures.ts"
import { COMMIT_FILE, commitOf, versionOf } from "../../src/database/assets.ts"
import { CARRIED, engineFile } from "../../src/database/embedded/engine.ts"
import { TEMPLATE, templateOf } from "../../src/database/embedded/template.ts"
import { MANUAL_FOLDER } from "../../src/docs/manual.ts"

const ROOT = join(import.meta.dirname, "../..")

const TARGETS = ["linux-x64", "linux-arm64", "linux-x64-musl", "darwin-arm64", "darwin-x64", "windows-x64"] as const
type Target = (typeof TARGETS)[number]

/**
 * Builds for this machine, or for `target`, into `file`. Throws with Bun's reason, which for another target may be that
 * its runtime cannot be downloaded.
 */
export async function build(file: string, target?: Target): Promise<void> {
  // beside the file, so that it can be moved there whole; the source maps are inside it and stay behind
  const parts = mkdtempSync(join(dirname(file), ".build-"))
  try {
    await collectEngine(join(parts, CARRIED))
    const commit = commitOf()
    if (commit !== null) writeFileSync(join(parts, COMMIT_FILE), commit)
    await Bun.build({
      // the workers' names must stand beside the main program's: thread.ts asks for ./worker.ts, pool.ts for its own
      entrypoints: [
        join(ROOT, "src/main.ts"),
        join(ROOT, "src/database/embedded/worker.ts"),
        join(ROOT, "src/measuring/parsing/parse-worker.ts"),
        join(ROOT, "src/texts/pictures/ocr-worker.ts"),
      ],
      naming: { entry: "[name].[ext]" },
      root: ROOT,
      target: "bun",
      format: "esm",
      bytecode: true,
      // Names and lines of the source stay in stacks; minified, the file would be 0.1 MB of 120 smaller.
      sourcemap: "linked",
      compile: {
        outfile: join(parts, basename(file)),
        ...(target && { target: `bun-${target}`, ...(await runtimeOf(target)) }),
        assets: [
          ...["sql", "fixtures", "package.json", MANUAL_FOLDER].map((name) => join(ROOT, name)),
          join(parts, CARRIED),
          ...(commit === null ? [] : [join(parts, COMMIT_FILE)]),
        ],
        // a stranger's file in the folder of the start is no setting of ours
        autoloadDotenv: false,
        autoloadBunfig: false,
        // a smaller heap that is collected more often: 10 MB less, and calls take no more of the processor
        execArgv: ["--smol"],
      },
    })
    renameSync(join(parts, basename(file)), file)
  } finally {
    rmSync(parts, { recursive: true, force: true })
  }
}

/**
 * Bun's runtime for another machine, as the npm registry that this one uses holds it. Without npm, or where it has none,
 * Bun downloads it by itself.
 */
async function runtimeOf(target: Target): Promise<{ executablePath?: string }> {
  const name = target.replace("arm64", "aarch64")
  const kept = join(ROOT, "node_modules/.cache", `bun-${Bun.version}-${name}`)
  const executablePath = join(kept, "package/bin", named("bun", target))
  if (existsSync(executablePath)) return { executablePath }
  rmSync(kept, { recursive: true, force: true })
  mkdirSync(kept, { recursive: true })
  const pack = ["npm", "pack", "--silent", "--pack-destination", kept, `@oven/bun-${name}@${Bun.version}`]
  if (!Bun.which("npm") || (await Bun.spawn(pack, { stdio: ["ignore", "ignore", "ignore"] }).exited) !== 0) return {}
  const [packed] = readdirSync(kept)
  await new Bun.Archive(readFileSync(join(kept, packed!))).extract(kept)
  rmSync(join(kept, packed!))
  return existsSync(executablePath) ? { executablePath } : {}
}

async function collectEngine(folder: string): Promise<void> {
  mkdirSync(folder)
  const put = (name: string, bytes: Uint8Array<ArrayBuffer>) =>
    writeFileSync(join(folder, `${name}.zst`), Bun.zstdCompressSync(bytes, { level: LEVEL }))
  put("pglite.wasm", engineFile("pglite.wasm"))
  put("pglite.data", engineFile("pglite.data"))
  put(TEMPLATE, await templateOf())
  put(OCR_FILES.wasm, packagedWasm())
  put(OCR_FILES.english, packagedEnglish())
}

// 19 would make the file 3 MB of 125 smaller and the build 10 s longer
export const LEVEL = 6

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      all: { type: "boolean" },
      release: { type: "boolean" },
      pack: { type: "boolean" },
      into: { type: "string" },
    },
  })
  const into = values.into ?? join(ROOT, "dist")
  mkdirSync(into, { recursive: true })
  const own = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`
  const others = values.all ? TARGETS.filter((target) => target !== own) : []
  let failed =
    !values.pack && !(await report(join(into, named("appmeter", own)), "for this machine, tested by test/packaging"))
  for (const target of values.pack ? [] : others) {
    const file = join(into, named(`appmeter-${target}`, target))
    failed = !(await report(file, "not tested: it runs only elsewhere", target)) || failed
  }
  if ((values.release || values.pack) && !failed) for (const line of pack(into, own, versionOf())) console.log(line)
  process.exit(failed ? 1 : 0)
}

/** Each program of the folder as an archive that names version and machine, and SHA256SUMS of them, as `sha256sum -c` reads it. */
export function pack(folder: string, own: string, version: string): string[] {
  const programs = readdirSync(folder)
    .filter((name) => /^appmeter(?:-[a-z0-9-]+)?(?:\.exe)?$/.test(name))
    .sort()
  const archives = programs.map((name) => {
    const target = /^appmeter-([a-z0-9-]+)/.exec(name)?.[1] ?? own
    const archive = `appmeter-${version}-${target}${name.endsWith(".exe") ? ".exe" : ""}.gz`
    writeFileSync(join(folder, archive), Bun.gzipSync(readFileSync(join(folder, name)), { level: 9 }))
    return archive
  })
  const sums = archives.map((archive) => `${sha256Of(join(folder, archive))}  ${archive}\n`)
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""))
  return archives.map((archive) => `${archive}: ${Math.round(statSync(join(folder, archive)).size / 1e6)} MB`)
}

// a function, for it is called from above while this file is still being run
function sha256Of(file: string): string {
  return new Bun.CryptoHasher("sha256").update(readFileSync(file)).digest("hex")
}

function named(name: string, target: string): string {
  return target.startsWith("windows") ? `${name}.exe` : name
}

/** One line on standard output for each file, whatever became of it. */
async function report(file: string, remark: string, target?: Target): Promise<boolean> {
  const startedAt = performance.now()
  const shown = relative(process.cwd(), file)
  try {
    await build(file, target)
  } catch (error) {
    console.log(`${shown}: not built: ${reason(error)}`)
    return false
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  console.log(`${shown}: ${Math.round(statSync(file).size / 1e6)} MB in ${seconds} s, ${remark}`)
  return true
}

function reason(error: unknown): string {
  const { message, errors } = error as { message?: string; errors?: { message: string }[] }
  return (errors?.[0]?.message ?? message ?? String(error)).split("\n")[0]!
}
