// bun test/bench/power-cut.ts — cuts the power of the binary while clients write, ROUNDS (10) times. Its data is on a
// separate ext4 on a loop device; a round kills with -9 and copies the file behind the device, which has only what
// reached the device; the copy is the disk of the next round. Needs root and a loop device, else exit 2.
// WITHOUT_FSYNC=1 (needs strace) answers every flush without flushing: acknowledged writes must then be lost, or the
// simulated cut has no effect.
//
// The benchmark proves what an ordered disk that honours flushes keeps. A flush of one file also commits ext4's whole
// journal, so a missing flush of a folder is not detected; nor is a disk that ignores flushes.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buildAlone } from "../packaging/alone.ts"
import { checkDirectory } from "../packaging/amcheck.ts"
import { Trial } from "../packaging/trial.ts"

const ROUNDS = Number(process.env.ROUNDS ?? 10)
const BYTES = 512 * 1024 * 1024
const WITHOUT_FSYNC = process.env.WITHOUT_FSYNC === "1"
const TRACER = ["strace", "-D", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"]

const scratch = mkdtempSync(join(tmpdir(), "appmeter-power-"))
const image = join(scratch, "disk")
const problem = makeDisk()
if (problem) {
  rmSync(scratch, { recursive: true, force: true })
  console.log(`the power is not cut here: ${problem}`)
  process.exit(2)
}

const build = await buildAlone()
const mounted = join(build.folder, "disk")
mkdirSync(mounted)
const tracer = WITHOUT_FSYNC ? [Bun.which("strace")!, ...TRACER.slice(1), "-e", "inject=fsync,fdatasync:retval=0"] : []
const trial = new Trial(build, "disk/data", tracer)
const { batches, paid, imports } = trial.acknowledged
const wrong: string[] = []
// number of cuts that lost a file that was never flushed; the system writes one now and then by itself
let dropped = 0
let [round, checked] = [0, 0]
mount()
try {
  while (round < ROUNDS && wrong.length === 0) await cutOnce(++round)
  if (wrong.length === 0) await trial.start()
  if (wrong.length === 0) await judge("at the end")
} catch (error) {
  wrong.push(`after cut ${round}: ${(error as Error).message}`)
} finally {
  await trial.kill()
  unmount()
  build.remove()
  rmSync(scratch, { recursive: true, force: true })
}
wrong.push(...trial.refused)
if (dropped === 0) wrong.push("the cuts cut nothing: every file that nobody had flushed is there")
for (const fault of wrong) console.log(fault)
console.log(
  `${round} power cuts${WITHOUT_FSYNC ? " without fsync" : ""}: ${batches.size} confirms, ` +
    `${imports.size} imports and ${paid.size} charges acknowledged; amcheck read ${checked} tables and indexes; ` +
    `${wrong.length} faults; a file that nobody flushed was lost in ${dropped}`,
)
process.exit(wrong.length > 0 ? 1 : 0)

async function cutOnce(round: number): Promise<void> {
  await trial.start()
  await judge(`before cut ${round}`)
  // without this, the disk could lose no data
  if (WITHOUT_FSYNC) run("sync", "-f", mounted)
  trial.write({ checkpoints: round % 2 === 0 })
  await Bun.sleep(500 + ((round * 337) % 1_500))
  const unflushed = join(mounted, "unflushed")
  writeFileSync(unflushed, "x".repeat(100_000))
  await trial.kill()
  run("cp", "--sparse=always", image, `${image}.cut`)
  unmount()
  renameSync(`${image}.cut`, image)
  mount()
  if (!existsSync(unflushed) || Bun.file(unflushed).size === 0) dropped++
  rmSync(unflushed, { force: true })
  const { tables, indexes, problems } = await checkDirectory(join(mounted, "data", "postgres"))
  wrong.push(...problems.map((problem) => `cut ${round}: ${problem}`))
  checked += tables + indexes
}

async function judge(stage: string): Promise<void> {
  wrong.push(...(await trial.judge()).map((fault) => `${stage}: ${fault}`))
}

/** Creates the disk. Returns null if it can be used, else the reason. */
function makeDisk(): string | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "it needs root on Linux"
  if (WITHOUT_FSYNC && !Bun.which("strace")) return "it needs strace"
  try {
    writeFileSync(image, "")
    truncateSync(image, BYTES)
    run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", image)
    const probe = join(scratch, "probe")
    mkdirSync(probe)
    run("mount", "-o", "loop", image, probe)
    run("umount", probe)
    return null
  } catch (error) {
    return `it needs mkfs.ext4 and a loop device (${(error as Error).message})`
  }
}

// Mounts the disk. Only a flush may commit the journal, because a commit every 5 s could happen during the copy.
function mount(): void {
  run("mount", "-o", "loop,commit=300", image, mounted)
}

function unmount(): void {
  run("umount", mounted)
}

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command, { stderr: "pipe" })
  if (exitCode !== 0) throw new Error(`${command[0]}: ${stderr.toString().trim()}`)
}
