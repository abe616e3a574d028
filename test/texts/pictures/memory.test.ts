import { expect, setDefaultTimeout } from "bun:test"
import { join } from "node:path"
import { cases, long } from "../../long.ts"

setDefaultTimeout(120_000)

// eight pictures in a row take at most 172 MB; 65 MB are not freed
const READ = cases(2, 4)

long(
  "a process that reads screenshots uses less than 250 MB, and frees memory after its OCR thread has ended",
  async () => {
    const child = Bun.spawn([process.execPath, join(import.meta.dirname, "memory-process.ts"), `${READ}`], {
      stdout: "pipe",
    })
    const { read, before, most, after } = JSON.parse(await new Response(child.stdout).text())
    expect(read).toBe(READ)
    expect([most, most < 250]).toEqual([most, true])
    expect(most).toBeGreaterThan(before + 50)
    expect([after, after < before + (most - before) / 2]).toEqual([after, true])
  },
)
