import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseSettingsFile } from "../../src/settings/settings-file.ts"
import { appmeter, removeFolders, scratch } from "../commands/child.ts"

setDefaultTimeout(60_000)
afterAll(removeFolders)

function fileWith(text: string): string {
  const file = join(scratch(), "settings")
  writeFileSync(file, text)
  return file
}

describe("a settings file", () => {
  test("a settings file has the form of systemd's EnvironmentFile", () => {
    const text = [
      "# a comment",
      "; another",
      "",
      "PORT=9000",
      "  LOG_LEVEL = warn  ",
      'PUBLIC_URL="https://ranks.example.com"',
      "AI_MODEL='a \"model\"'",
      "DATABASE_URL=postgres://user:pa#ss@db.example.com/appmeter",
      "SOURCES_OFF=apple-reviews,\\",
      "  play-page",
      'EGRESS="a \\"b\\""',
      "EMPTY=",
    ].join("\n")
    expect(parseSettingsFile(text)).toEqual({
      PORT: "9000",
      LOG_LEVEL: "warn",
      PUBLIC_URL: "https://ranks.example.com",
      AI_MODEL: 'a "model"',
      DATABASE_URL: "postgres://user:pa#ss@db.example.com/appmeter",
      SOURCES_OFF: "apple-reviews,play-page",
      EGRESS: 'a "b"',
      EMPTY: "",
    })
  })

  test.each([
    ["PORT 9000", "line 1 must be NAME=value or a comment"],
    ['A=1\nSECRET_KEY="canary', "line 2 has no closing quote at its end"],
  ])("an unreadable line of a settings file is refused with its number, not its value", (text, reason) => {
    expect(() => parseSettingsFile(text)).toThrow(reason)
  })
})

describe("--settings FILE", () => {
  test("a command with --settings FILE uses the settings of the file", async () => {
    const DATA_DIR = join(scratch(), "none")
    const { code, err } = await appmeter(["backup", "x", "--settings", fileWith(`DATA_DIR=${DATA_DIR}\n`)])
    expect([code, err]).toEqual([1, expect.stringContaining(`there is no database in ${DATA_DIR}`)])
  })

  test("an environment variable overrides the same setting in the file, including a secret's file name", async () => {
    const file = fileWith("DATA_DIR=/from/file\nSECRET_KEY_FILE=/nowhere\n")
    const env = { DATA_DIR: join(scratch(), "none"), SECRET_KEY: randomBytes(32).toString("base64") }
    const { code, err } = await appmeter(["backup", "x", "--settings", file], { env })
    expect([code, err]).toEqual([1, expect.stringContaining(`there is no database in ${env.DATA_DIR}`)])
  })

  test("each unknown name in a settings file causes a warning", async () => {
    const { err } = await appmeter(["settings", "--settings", fileWith("MEASUR=no\nPROT=9000\nFLAVOUR=mint\n")])
    expect(err.trim().split("\n")).toEqual([
      "appmeter: warning: MEASUR is not a setting; did you mean MEASURE?",
      "appmeter: warning: PROT is not a setting; did you mean PORT?",
      "appmeter: warning: FLAVOUR is not a setting",
    ])
  })

  test("an unreadable settings file is refused, and so is an invalid value in a settings file", async () => {
    expect(await appmeter(["settings", "--settings", "/nowhere/settings"])).toMatchObject({
      code: 2,
      err: "appmeter: --settings /nowhere/settings: the file cannot be read (ENOENT)\n",
    })
    const { code, err } = await appmeter(["settings", "--settings", fileWith("PORT=abc\n")])
    expect([code, err]).toEqual([78, expect.stringContaining('PORT is "abc"')])
  })
})
