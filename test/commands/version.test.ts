import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { denoBinary, noDeno } from "../deno-process.ts"
import { appmeter, removeFolders } from "./child.ts"

setDefaultTimeout(60_000)
afterAll(removeFolders)

const root = join(import.meta.dirname, "../..")
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }
/** The start of the baseline's hash, followed by the newest migration if there is one. */
const schema = expect.stringMatching(/^[0-9a-f]{12}( \d{4}_\w+\.sql)?$/)

const RIGHTS = ["--no-lock", "--allow-env", "--allow-net", "--allow-read"]

describe("version", () => {
  test("version prints the commit, runtime and schema as JSON and as lines", async () => {
    const git = Bun.spawnSync(["git", "-C", root, "rev-parse", "HEAD"])
    const commit = git.exitCode === 0 ? git.stdout.toString().trim() : null
    const { out } = await appmeter(["version", "--json"])
    const answer = JSON.parse(out)
    expect(answer).toEqual({ version, commit: answer.commit, runtime: `Bun ${Bun.version}`, schema })
    expect(answer.commit?.replace(/-dirty$/, "") ?? null).toBe(commit)
    expect(await appmeter(["version"])).toEqual({
      code: 0,
      out: [
        `appmeter ${version}`,
        `commit   ${answer.commit ?? "unknown"}`,
        `runtime  Bun ${Bun.version}`,
        `schema   ${answer.schema}`,
        "",
      ].join("\n"),
      err: "",
    })
  })

  test.skipIf(noDeno)("under Deno, version names Deno, and omits the commit if git may not be run", async () => {
    const words = ["version", "--json"]
    const { stdout } = Bun.spawnSync([denoBinary(), "run", "--no-prompt", ...RIGHTS, "src/deno.ts", ...words], {
      cwd: root,
    })
    const runtime = expect.stringMatching(/^Deno \d/)
    expect(JSON.parse(stdout.toString())).toEqual({ version, commit: null, runtime, schema })
  })
})
