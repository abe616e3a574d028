import { expect, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pack } from "./build.ts"

test("a release is an archive for each machine, and the checksums that its tool accepts", async () => {
  const folder = mkdtempSync(join(tmpdir(), "appmeter-release-"))
  for (const name of ["appmeter", "appmeter-linux-arm64", "appmeter-windows-x64.exe"])
    writeFileSync(join(folder, name), `program ${name}`)
  writeFileSync(join(folder, "notes.txt"), "no program")
  pack(folder, "linux-x64", "1.2.3")
  const archives = ["appmeter-1.2.3-linux-arm64.gz", "appmeter-1.2.3-linux-x64.gz", "appmeter-1.2.3-windows-x64.exe.gz"]
  expect(
    readdirSync(folder)
      .filter((name) => name.endsWith(".gz"))
      .sort(),
  ).toEqual(archives)
  expect(new TextDecoder().decode(Bun.gunzipSync(readFileSync(join(folder, archives[1]!))))).toBe("program appmeter")
  const check = () => Bun.spawnSync(["sha256sum", "--check", "--quiet", "SHA256SUMS"], { cwd: folder }).exitCode
  if (Bun.which("sha256sum")) {
    expect(check()).toBe(0)
    writeFileSync(join(folder, archives[0]!), "another")
    expect(check()).toBe(1)
  }
  // a second time it packs no archive of an archive
  pack(folder, "linux-x64", "1.2.3")
  expect(readdirSync(folder)).toHaveLength(8)
  rmSync(folder, { recursive: true })
})

test("the command itself packs: what it calls is there by then", () => {
  const folder = mkdtempSync(join(tmpdir(), "appmeter-release-"))
  writeFileSync(join(folder, "appmeter"), "program")
  const packed = Bun.spawnSync([process.execPath, join(import.meta.dirname, "build.ts"), "--pack", "--into", folder])
  expect([packed.exitCode, packed.stderr.toString()]).toEqual([0, ""])
  expect(readFileSync(join(folder, "SHA256SUMS"), "utf8")).toMatch(/^[0-9a-f]{64} {2}appmeter-[\d.]+-\w+-\w+\.gz\n$/)
  rmSync(folder, { recursive: true })
})
