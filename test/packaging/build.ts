// bun run build [--all] [--release | --pack] [--into FOLDER] — the program as one file with everything inside; --all
// builds for other machines too. --release also writes what is published: archives, packages, checksums and signature
// (release.ts). --pack writes these for the programs that are already in the folder.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { basename, dirname, join, relative, resolve } from "node:path"
import { parseArgs } from "node:util"
import { OCR_FILES, packagedEnglish, packagedWasm } from "../../src/commands/process/pictures.ts"
import { COMMIT_FILE, commitOf, NOTICES_FILE, versionOf } from "../../src/database/assets.ts"
import { CARRIED, engineFile } from "../../src/database/embedded/engine.ts"
import { TEMPLATE, templateOf } from "../../src/database/embedded/template.ts"
import { MANUAL_FOLDER } from "../../src/docs/manual.ts"
import { noticesOf } from "./notices.ts"
import { productionPackages } from "./production-packages.ts"
import { writeRelease } from "./release.ts"

const ROOT = join(import.meta.dirname, "../..")

/** The data that the program serves. The recordings in the same folder are for tests only. */
const FIXTURES = ["fixtures/demo", "fixtures/pages", "fixtures/sandbox"]

const TARGETS = ["linux-x64", "linux-arm64", "linux-x64-musl", "darwin-arm64", "darwin-x64", "windows-x64"] as const
type Target = (typeof TARGETS)[number]

/** The contents of a binary in addition to Bun's runtime. */
export interface Contents {
  /** Modules, relative to the root of the project. */
  modules: string[]
  /** The package of each embedded compressed file, by the file's name. Null if the build makes the file. */
  carried: Record<string, string | null>
  /** Names of other embedded files and folders. */
  assets: string[]
}

/**
 * Builds for this machine, or for `target`, into `file`. Throws with Bun's reason, which for another target may be that
 * its runtime cannot be downloaded.
 */
export async function build(file: string, target?: Target): Promise<Contents> {
  // next to the target file, so that a rename moves the whole file; the source maps are embedded, and their separate
  // files stay behind
  const parts = mkdtempSync(join(dirname(file), ".build-"))
  try {
    const carried = await collectEngine(join(parts, CARRIED))
    const commit = commitOf()
    if (commit !== null) writeFileSync(join(parts, COMMIT_FILE), commit)
    writeFileSync(join(parts, NOTICES_FILE), noticesOf(versionOf(), productionPackages()))
    const assets = [
      ...["sql", ...FIXTURES, "package.json", MANUAL_FOLDER].map((name) => join(ROOT, name)),
      ...[CARRIED, NOTICES_FILE, ...(commit === null ? [] : [COMMIT_FILE])].map((name) => join(parts, name)),
    ]
    const { metafile } = await Bun.build({
      // The workers' files must be next to the main program: thread.ts starts ./worker.ts, body-parsers.ts starts
      // ./parse-worker.ts.
      entrypoints: [
        join(ROOT, "src/main.ts"),
        join(ROOT, "src/database/embedded/worker.ts"),
        join(ROOT, "src/commands/process/parse-worker.ts"),
        join(ROOT, "src/texts/pictures/ocr-worker.ts"),
      ],
      naming: { entry: "[name].[ext]" },
      root: ROOT,
      target: "bun",
      format: "esm",
      bytecode: true,
      minify: { whitespace: true, syntax: true, identifiers: false },
      metafile: true,
      plugins: [asciiComments],
      // keeps names and lines of the source in stack traces
      sourcemap: "linked",
      compile: {
        outfile: join(parts, basename(file)),
        ...(target && { target: `bun-${target}`, ...(await runtimeOf(target)) }),
        assets,
        // ignores a foreign settings file in the working directory
        autoloadDotenv: false,
        autoloadBunfig: false,
        // a smaller heap that is collected more often: 10 MB less, and calls take no more processor time
        execArgv: ["--smol"],
      },
    })
    renameSync(join(parts, basename(file)), file)
    const modules = Object.keys(metafile!.inputs).map((path) => relative(ROOT, resolve(path)))
    return { modules, carried, assets: assets.map((path) => basename(path)) }
  } finally {
    rmSync(parts, { recursive: true, force: true })
  }
}

/**
 * Removes the comment with the author's name from a library whose licence is in NOTICES. A single character beyond
 * ASCII makes Bun store the bundle with two bytes per character, which adds 5 MB.
 */
const asciiComments: Bun.BunPlugin = {
  name: "ascii-comments",
  setup(build) {
    build.onLoad({ filter: /node_modules\/otpauth\/.*\.js$/ }, ({ path }) => {
      return { contents: readFileSync(path, "utf8").replaceAll(/^\/\/!.*$/gm, ""), loader: "js" }
    })
  },
}

/**
 * Gets Bun's runtime for another machine from the configured npm registry. If npm or the package is missing, Bun
 * downloads the runtime itself.
 */
async function runtimeOf(target: Target): Promise<{ executablePath?: string }> {
  const name = target.replace("arm64", "aarch64")
  const cached = join(ROOT, "node_modules/.cache", `bun-${Bun.version}-${name}`)
  const executablePath = join(cached, "package/bin", named("bun", target))
  if (existsSync(executablePath)) return { executablePath }
  rmSync(cached, { recursive: true, force: true })
  mkdirSync(cached, { recursive: true })
  const pack = ["npm", "pack", "--silent", "--pack-destination", cached, `@oven/bun-${name}@${Bun.version}`]
  if (!Bun.which("npm") || (await Bun.spawn(pack, { stdio: ["ignore", "ignore", "ignore"] }).exited) !== 0) return {}
  const [packed] = readdirSync(cached)
  await new Bun.Archive(readFileSync(join(cached, packed!))).extract(cached)
  rmSync(join(cached, packed!))
  return existsSync(executablePath) ? { executablePath } : {}
}

/**
 * Returns the package of each file by the file's name. Null for the template, which the build makes from the schema.
 */
async function collectEngine(folder: string): Promise<Record<string, string | null>> {
  mkdirSync(folder)
  const carried: Record<string, string | null> = {}
  const put = (name: string, bytes: Uint8Array<ArrayBuffer>, origin: string | null) => {
    writeFileSync(join(folder, `${name}.zst`), Bun.zstdCompressSync(bytes, { level: LEVEL }))
    carried[name] = origin
  }
  put("pglite.wasm", engineFile("pglite.wasm"), "@electric-sql/pglite")
  put("pglite.data", engineFile("pglite.data"), "@electric-sql/pglite")
  put(TEMPLATE, await templateOf(), null)
  put(OCR_FILES.wasm, packagedWasm(), "tesseract.js-core")
  put(OCR_FILES.english, packagedEnglish(), "@tesseract.js-data/eng")
  return carried
}

// level 6 makes the file 0.2 MB larger and the build 1 s shorter; 19 makes it smaller and the build 10 s longer
export const LEVEL = 12

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
  const hostTarget = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`
  const otherTargets = values.all ? TARGETS.filter((target) => target !== hostTarget) : []
  let failed =
    !values.pack &&
    !(await report(join(into, named("appmeter", hostTarget)), "for this machine, tested by test/packaging"))
  for (const target of values.pack ? [] : otherTargets) {
    const file = join(into, named(`appmeter-${target}`, target))
    failed = !(await report(file, "not tested: it runs only elsewhere", target)) || failed
  }
  if ((values.release || values.pack) && !failed)
    for (const line of await writeRelease(into, hostTarget)) console.log(line)
  process.exit(failed ? 1 : 0)
}

function named(name: string, target: string): string {
  return target.startsWith("windows") ? `${name}.exe` : name
}

/** Prints one line on standard output for each file, built or not. */
async function report(file: string, remark: string, target?: Target): Promise<boolean> {
  const startedAt = performance.now()
  const relativePath = relative(process.cwd(), file)
  try {
    await build(file, target)
  } catch (error) {
    console.log(`${relativePath}: not built: ${reason(error)}`)
    return false
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  console.log(`${relativePath}: ${Math.round(statSync(file).size / 1e6)} MB in ${seconds} s, ${remark}`)
  return true
}

function reason(error: unknown): string {
  const { message, errors } = error as { message?: string; errors?: { message: string }[] }
  return (errors?.[0]?.message ?? message ?? String(error)).split("\n")[0]!
}
