import { setDefaultTimeout } from "bun:test"
import { statfsSync } from "node:fs"

// The first start of the embedded database on a machine takes 4 s, and child processes share two cores with the tests.
// This timeout applies to a file that runs alone. In a run of several files, bun forgets it after the first, so the
// script of package.json sets it for all.
setDefaultTimeout(30_000)

// A data folder has 1,000 files. Copying one costs 0.5 s of CPU on a disk and 0.05 s in memory, so memory is used if
// there is room.
const MEMORY = "/dev/shm"
process.env.TMPDIR ??= hasRoom(MEMORY) ? MEMORY : "/tmp"

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize > 4_000_000_000
  } catch {
    return false
  }
}
