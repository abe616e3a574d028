import { expect, setDefaultTimeout, test } from "bun:test"
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { typedAs } from "../../src/database/assets.ts"
import { denoBinary, noDeno } from "../deno-process.ts"
import { slow } from "../long.ts"
import { appmeter } from "./child.ts"

setDefaultTimeout(60_000)

const root = join(import.meta.dirname, "../..")

test("the help in a source checkout names the command that starts the program", async () => {
  expect((await appmeter(["--help"])).out).toContain(`Here, type ${typedAs()} instead of appmeter.\n`)
})

slow("the help names npx if npx installed Bun, because such a machine has no command bun", () => {
  const folder = mkdtempSync(join(tmpdir(), "appmeter-npx-"))
  const copy = join(folder, "_npx/bun")
  mkdirSync(dirname(copy))
  copyFileSync(process.execPath, copy)
  const { stdout } = Bun.spawnSync([copy, join(root, "src/main.ts"), "--help"])
  rmSync(folder, { recursive: true })
  expect(stdout.toString()).toMatch(/Here, type npx -y bun@\d+\.\d+\.\d+ src\/main\.ts instead of appmeter\.\n/)
})

test.skipIf(noDeno)("under Deno, the help names the command that starts the program", () => {
  const rights = ["--no-lock", "--allow-env", "--allow-net", "--allow-read"]
  const { stdout } = Bun.spawnSync([denoBinary(), "run", "--no-prompt", ...rights, "src/deno.ts", "--help"], {
    cwd: root,
  })
  const typed = `deno run ${rights.join(" ")} src/deno.ts`
  expect(stdout.toString()).toContain(`Here, type ${typed} instead of appmeter.\n`)
})
