import { expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { denoBinary, noDeno } from "../deno-process.ts"
import { appmeter } from "./child.ts"

setDefaultTimeout(60_000)

const root = join(import.meta.dirname, "../..")

test("the help of a checkout names the command of its runtime", async () => {
  expect((await appmeter(["--help"])).out).toContain("Here, type bun src/main.ts instead of appmeter.\n")
})

test.skipIf(noDeno)("under Deno the help names the command that starts the program there", () => {
  const rights = ["--no-lock", "--allow-env", "--allow-net", "--allow-read"]
  const { stdout } = Bun.spawnSync([denoBinary(), "run", "--no-prompt", ...rights, "src/deno.ts", "--help"], {
    cwd: root,
  })
  const typed = `deno run ${rights.join(" ")} src/deno.ts`
  expect(stdout.toString()).toContain(`Here, type ${typed} instead of appmeter.\n`)
})
