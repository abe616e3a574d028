import { execFile } from "node:child_process"
import { createReadStream } from "node:fs"
import { mkdir, readdir, rm, stat } from "node:fs/promises"
import { basename, join, resolve } from "node:path"
import { AccessProblem } from "../../access/problem.ts"
import { runningProgram } from "../../database/assets.ts"
import { listNightlyBackups } from "../../database/nightly-backups.ts"
import type { BackupFile, Machine, MachineFinding } from "../../pages/settings/machine.ts"
import type { Settings } from "../../settings/settings.ts"

/** The only form of names of backups made on the page, so that no name leads out of their folder. */
const BACKUP_NAME = /^appmeter-\d{8}T\d{6}Z\.backup$/
/** The only form of names of nightly backups, so that no name leads out of their folder. */
const NIGHTLY_NAME = /^appmeter-\d{4}-\d\d-\d\d\.backup$/
const DOCTOR_MS = 60_000
const BACKUP_MS = 3_600_000

/**
 * Returns the functions of this machine that the operator's settings pages use. They run commands in separate
 * processes, because these read whole folders, which would block the server.
 */
export function openMachine({ dataDir, backupDir }: Pick<Settings, "dataDir" | "backupDir">): Machine {
  const folder = resolve(dataDir, "backups")
  const pathOf = (name: string) => {
    if (BACKUP_NAME.test(name)) return join(folder, name)
    return backupDir !== undefined && NIGHTLY_NAME.test(name) ? join(backupDir, name) : null
  }
  const listBackups = async (): Promise<BackupFile[]> => {
    const names = (await readdir(folder).catch(() => [])).filter((name) => BACKUP_NAME.test(name))
    const files = await Promise.all(
      names.map(async (name) => {
        const { size: bytes, mtime: at } = await stat(join(folder, name))
        return { name, bytes, at, isNightly: false }
      }),
    )
    const nightly = (backupDir === undefined ? [] : listNightlyBackups(backupDir)).map(({ file, bytes, at }) => ({
      name: basename(file),
      bytes,
      at,
      isNightly: true,
    }))
    return [...files, ...nightly].sort((a, b) => b.at.getTime() - a.at.getTime())
  }
  return {
    backupFolder: folder,
    nightlyFolder: backupDir,
    listBackups,
    async examine() {
      const { output } = await runCommand(["doctor", "--json"], DOCTOR_MS)
      return (JSON.parse(output) as { findings: MachineFinding[] }).findings
    },
    async backUp() {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const at = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "")
      const { exitCode, says } = await runCommand(["backup", join(folder, `appmeter-${at}.backup`)], BACKUP_MS)
      if (exitCode !== 0) throw new AccessProblem(`the backup failed: ${says}`)
    },
    async readBackup(name) {
      const path = pathOf(name)
      const file = path && (await stat(path).catch(() => null))
      if (!path || !file) return null
      return { bytes: file.size, content: streamOf(path) }
    },
    async deleteBackup(name) {
      if (BACKUP_NAME.test(name)) await rm(join(folder, name), { force: true })
    },
  }
}

function streamOf(path: string): ReadableStream<Uint8Array> {
  const file = createReadStream(path)
  const chunks = file[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: () => void file.destroy(),
  })
}

interface CommandResult {
  exitCode: number
  output: string
  /** The last line of the command's messages for people. */
  says: string
}

/** Runs a command of this program with the settings of this process. */
async function runCommand(words: readonly string[], timeout: number): Promise<CommandResult> {
  const { command, args } = runningProgram()
  const options = { timeout, maxBuffer: 10_000_000, windowsHide: true }
  return await new Promise((done) => {
    execFile(command, [...args, ...words], options, (error, output, talk) => {
      const says = talk.trim().split("\n").at(-1) ?? ""
      done({ exitCode: error ? Number(error.code) || 1 : 0, output, says })
    })
  })
}
