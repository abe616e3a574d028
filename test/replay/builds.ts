import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The commit with which every later build is compared. */
export const BASE_COMMIT = "25b28b5b67bb6ebf3cc4957a9c93d3767d552c46"

const ROOT = join(import.meta.dirname, "../..")
const CACHE = join(tmpdir(), "appmeter-replay")

/** Builds the binary of a commit, or returns the binary that an earlier run left in the temporary folder. */
export async function binaryOfCommit(commit: string): Promise<string> {
  const folder = join(CACHE, commit)
  const binary = join(folder, "dist/appmeter")
  if (existsSync(binary)) return binary
  await ensureCommit(commit)
  const checkout = `${folder}.${process.pid}`
  rmSync(checkout, { recursive: true, force: true })
  mkdirSync(checkout, { recursive: true })
  try {
    await run(["sh", "-c", `git archive ${commit} | tar -x -C '${checkout}'`], ROOT)
    await run(["bun", "install", "--frozen-lockfile", "--silent"], checkout)
    await run(["bun", "run", "build"], checkout)
    rmSync(join(checkout, "node_modules"), { recursive: true, force: true })
    rmSync(folder, { recursive: true, force: true })
    renameSync(checkout, folder)
  } finally {
    rmSync(checkout, { recursive: true, force: true })
  }
  return binary
}

/** Builds the binary of this checkout, including uncommitted changes. */
export async function binaryOfCheckout(): Promise<string> {
  const folder = join(CACHE, `checkout-${process.pid}`)
  await run(["bun", "run", "build", "--into", folder], ROOT)
  return join(folder, "appmeter")
}

async function ensureCommit(commit: string): Promise<void> {
  const found = Bun.spawnSync(["git", "cat-file", "-e", `${commit}^{commit}`], { cwd: ROOT, stderr: "ignore" })
  if (found.exitCode === 0) return
  throw new Error(
    `This clone does not contain commit ${commit.slice(0, 8)}, which the replay compares with. ` +
      `Run "git fetch origin ${commit}", or "git fetch --unshallow" in a shallow clone, and start again.`,
  )
}

async function run(command: string[], cwd: string): Promise<void> {
  const child = Bun.spawn(command, { cwd, stdout: "pipe", stderr: "pipe" })
  const [code, out, err] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if (code !== 0) throw new Error(`"${command.join(" ")}" ended with ${code}: ${(err || out).trim().slice(-2_000)}`)
}
