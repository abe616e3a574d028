import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { generateKeyPairSync, verify } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Spec, Validation } from "@cyclonedx/cyclonedx-library"
import { versionOf } from "../../src/database/assets.ts"
import { once } from "../../src/lib/prepared.ts"
import { slow } from "../long.ts"
import { productionPackages } from "./production-packages.ts"
import { sbomOf } from "./sbom.ts"

setDefaultTimeout(120_000)

const version = versionOf()
const scratch = mkdtempSync(join(tmpdir(), "appmeter-release-"))
afterAll(() => rmSync(scratch, { recursive: true }))

const UNIX = `appmeter-${version}-linux-arm64`
const WINDOWS = `appmeter-${version}-windows-x64`
const COMMON = [
  "LICENSE",
  "NOTICES",
  "README.md",
  "appmeter.service",
  "completions/_appmeter",
  "completions/appmeter.bash",
  "completions/appmeter.fish",
]

/** Packs stand-ins of two programs with the command of a release. */
function pack(name: string, env: Record<string, string> = {}): string {
  const folder = join(scratch, name)
  mkdirSync(folder)
  writeFileSync(join(folder, "appmeter-linux-arm64"), "program for arm64")
  writeFileSync(join(folder, "appmeter-windows-x64.exe"), "program for Windows")
  writeFileSync(join(folder, "notes.txt"), "no program")
  const command = [process.execPath, join(import.meta.dirname, "build.ts"), "--pack", "--into", folder]
  const { exitCode, stderr } = Bun.spawnSync(command, { env: { ...process.env, ...env } })
  expect([exitCode, stderr.toString()]).toEqual([0, ""])
  return folder
}

/** The unsigned release (without APPMETER_RELEASE_KEY_FILE), packed once for all tests. */
const plain = once(() => pack("plain"))

const run = (command: string[], cwd: string) => {
  const { exitCode, stdout } = Bun.spawnSync(command, { cwd })
  return { exitCode, out: stdout.toString() }
}

describe("a release", () => {
  slow("a release has an archive for each machine, a bill of materials and checksums that sha256sum accepts", () => {
    const folder = plain()
    const published = [`${UNIX}.tar.xz`, `${WINDOWS}.zip`, `${WINDOWS}.mcpb`, `appmeter-${version}.cdx.json`]
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(published))
    const sums = readFileSync(join(folder, "SHA256SUMS"), "utf8").trim().split("\n")
    expect(sums.map((line) => line.split("  ")[1] ?? "").sort()).toEqual(published.sort())
    expect(run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], folder).exitCode).toBe(0)
    writeFileSync(join(folder, `appmeter-${version}.cdx.json`), "another")
    expect(run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], folder).exitCode).toBe(1)
    expect(readdirSync(folder)).not.toContain("SHA256SUMS.sig")
  })

  slow("an archive has one folder with the program, licences, shell completions, systemd unit and README", () => {
    const folder = plain()
    expect(run(["tar", "xJf", `${UNIX}.tar.xz`], folder).exitCode).toBe(0)
    const unpacked = join(folder, UNIX)
    const files = readdirSync(unpacked, { recursive: true, encoding: "utf8" })
    expect(files.sort()).toEqual([...COMMON, "appmeter", "completions"].sort())
    expect(run(["sh", "-c", "test -x appmeter && cat appmeter"], unpacked)).toEqual({
      exitCode: 0,
      out: "program for arm64",
    })
    expect(readFileSync(join(unpacked, "README.md"), "utf8")).toStartWith(`# Appmeter ${version}\n`)
    expect(readFileSync(join(unpacked, "completions/appmeter.bash"), "utf8")).toContain("complete ")
    expect(readFileSync(join(unpacked, "appmeter.service"), "utf8")).toContain("[Service]")
    const listed = run(["unzip", "-Z1", `${WINDOWS}.zip`], folder)
      .out.trim()
      .split("\n")
    const expected = [...COMMON, "appmeter.exe"].map((file) => `${WINDOWS}/${file}`)
    expect(listed.filter((name) => !name.endsWith("/")).sort()).toEqual(expected.sort())
  })

  test("a bundle for desktop assistants contains the command that its manifest names", () => {
    const folder = plain()
    expect(run(["unzip", "-q", `${WINDOWS}.mcpb`, "-d", "bundle"], folder).exitCode).toBe(0)
    const manifest = JSON.parse(readFileSync(join(folder, "bundle/manifest.json"), "utf8"))
    expect(manifest).toMatchObject({ name: "appmeter", version, server: { type: "binary" } })
    const { command } = manifest.server.mcp_config.platform_overrides.win32
    const inBundle = command.replace(`\${__dirname}`, join(folder, "bundle"))
    expect(readFileSync(inBundle, "utf8")).toBe("program for Windows")
    const settings = JSON.stringify(manifest.server.mcp_config.env).match(/(?<=user_config\.)\w+/g)
    expect(Object.keys(manifest.user_config)).toEqual(settings!)
  })

  slow("packing the same programs twice gives identical files and a signature that the public key verifies", () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519")
    const keyFile = join(scratch, "key.pem")
    writeFileSync(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }))
    const [signed, repeated] = ["first", "again"].map((name) => pack(name, { APPMETER_RELEASE_KEY_FILE: keyFile }))
    for (const name of readdirSync(signed!).filter((entry) => entry !== "npm")) {
      const [first, second] = [signed!, repeated!].map((folder) => readFileSync(join(folder, name)))
      expect([name, first!.equals(second!)]).toEqual([name, true])
    }
    const signature = readFileSync(join(signed!, "SHA256SUMS.sig"))
    const sums = readFileSync(join(signed!, "SHA256SUMS"))
    expect(verify(null, sums, publicKey, signature)).toBe(true)
    const openssl = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "appmeter.pub", "-rawin"]
    const check = () => run([...openssl, "-in", "SHA256SUMS", "-sigfile", "SHA256SUMS.sig"], signed!).exitCode
    expect(check()).toBe(0)
    writeFileSync(join(signed!, "SHA256SUMS"), "changed")
    expect(check()).toBe(1)
  })

  slow("the bill of materials is valid CycloneDX and has every production package with its hash", async () => {
    const text = sbomOf(version, productionPackages())
    expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull()
    const { components } = JSON.parse(text) as { components: { purl?: string; hashes?: object[] }[] }
    const found = components.filter(({ hashes }) => hashes?.length === 1).map(({ purl }) => purl)
    const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"))
    for (const [name, exact] of Object.entries(dependencies))
      expect(found).toContain(`pkg:npm/${name.replace("@", "%40")}@${exact}`)
  })
})
