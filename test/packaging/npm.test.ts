import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isQuick } from "../long.ts"
import { writeNpmPackages } from "./npm.ts"

setDefaultTimeout(120_000)

const scratch = mkdtempSync(join(tmpdir(), "appmeter-npm-"))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const hasNpm = process.platform === "linux" && Bun.which("npm") !== null && Bun.which("node") !== null

/** Installs packages from folders, without a registry, and returns the installation's folder. */
function install(name: string, packages: string[]): string {
  const folder = join(scratch, name)
  mkdirSync(folder)
  writeFileSync(join(folder, "package.json"), "{}")
  const command = ["npm", "install", "--offline", "--no-audit", "--no-fund", "--install-links", ...packages]
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd: folder })
  expect([exitCode, stderr.toString()]).toEqual([0, expect.any(String)])
  return folder
}

test.skipIf(isQuick || !hasNpm)(
  "npx appmeter runs the program for this platform and passes on arguments and exit code",
  () => {
    const program = join(scratch, "program")
    writeFileSync(program, '#!/bin/sh\necho "$@"\nexit 78\n')
    chmodSync(program, 0o755)
    const isMusl = !(process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header
      .glibcVersionRuntime
    const target = `linux-${process.arch}${isMusl ? "-musl" : ""}`
    const into = join(scratch, "packages")
    writeNpmPackages(into, "1.2.3", [{ file: program, target }])
    const npx = (cwd: string) => {
      const { exitCode, stdout, stderr } = Bun.spawnSync(["npx", "--no-install", "appmeter", "key", "list"], { cwd })
      return { exitCode, out: stdout.toString(), err: stderr.toString() }
    }
    const installation = install("both", [join(into, `appmeter-${target}`), join(into, "appmeter")])
    expect(npx(installation)).toMatchObject({ exitCode: 78, out: "key list\n" })
    rmSync(join(installation, "node_modules", `appmeter-${target}`), { recursive: true })
    expect(npx(installation)).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining(`no program for this machine (appmeter-${target})`),
    })
  },
)
