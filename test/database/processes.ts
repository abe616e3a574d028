import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const HOLDER = join(import.meta.dirname, "holder.ts")

/** Returns a folder for one test file, and a function that removes it. */
export function scratchFolder(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "appmeter-test-"))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Starts holder.ts as a child process and reads its lines. */
export function startHolder(as: "server" | "command", dataDir: string, mode = "idle") {
  const { DATABASE_URL: _, ...env } = process.env
  const child = Bun.spawn([process.execPath, HOLDER, as, dataDir, mode], {
    stdout: "pipe",
    stderr: "pipe",
    cwd: "/",
    env,
  })
  const lines: string[] = []
  const reading = (async () => {
    let rest = ""
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n")
      rest = parts.pop()!
      lines.push(...parts)
    }
  })()
  const waitForOpen = async () => {
    while (!lines.includes("open")) {
      if (child.exitCode !== null) throw new Error(`holder ended: ${lines} ${await new Response(child.stderr).text()}`)
      await Bun.sleep(10)
    }
  }
  const waitForEnd = async () => {
    await child.exited
    await reading
    return lines
  }
  /** Ends the process (kill -9 by default) and waits until all its output is read. */
  const end = async (signal: NodeJS.Signals = "SIGKILL") => {
    child.kill(signal)
    return waitForEnd()
  }
  return { child, lines, opened: waitForOpen, end, ended: waitForEnd }
}
