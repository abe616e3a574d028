import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { COMMANDS } from "../../src/commands/all.ts"
import { commandHelp, programHelp } from "../../src/commands/help.ts"
import { slow } from "../long.ts"
import { answer, appmeter, appmeterProcess, dataFolder, openFolder, removeFolders, scratch } from "./child.ts"

setDefaultTimeout(60_000)
afterAll(removeFolders)

const plain = (text: string) => text

describe("help", () => {
  test("help is printed to stdout without any setting or database", async () => {
    const [program, version, command, group] = await Promise.all(
      [["--help"], ["--version"], ["key", "create", "--help", "--nonsense=1"].slice(0, 3), ["key", "--help"]].map(
        (args) => appmeter(args, { env: { PORT: "wrong" } }),
      ),
    )
    expect(program).toEqual({ code: 0, err: "", out: programHelp(COMMANDS, plain) })
    const { version: current } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"))
    expect(version).toEqual({ code: 0, err: "", out: `${current}\n` })
    expect(command?.out).toBe(commandHelp(COMMANDS.find(({ name }) => name === "key create")!, plain))
    expect(group?.out).toContain("key revoke")
  })

  test.each(COMMANDS.map((command) => [command.name, command] as const))(
    "the help of %s has examples first, each of them valid",
    (_, command) => {
      const help = commandHelp(command, plain)
      expect(help.indexOf("Examples")).toBeLessThan(help.indexOf("Usage"))
      for (const [typed] of command.examples) {
        expect(typed).toStartWith(command.name)
        for (const [, option] of typed.matchAll(/ --([a-z-]+)/g))
          expect(Object.keys({ ...command.options, json: 1 })).toContain(option!)
      }
    },
  )

  test("no line of the program's help exceeds 200 characters", () => {
    const long = programHelp(COMMANDS, plain)
      .split("\n")
      .filter((line) => line.length > 200)
    expect(long).toEqual([])
  })
})

test("appmeter settings lists every setting with its default", async () => {
  const { out } = await appmeter(["settings", "--json"], { env: {} })
  const { settings } = JSON.parse(out) as { settings: { name: string; fallback: string }[] }
  expect(settings.find(({ name }) => name === "PORT")?.fallback).toBe("8787")
  const groups = (await appmeter(["settings"], { env: {} })).out.trimEnd().split("\n\n")
  const titles = groups.map((group) => group.split("\n")[0]!)
  const lines = groups.flatMap((group) => group.split("\n").slice(1))
  expect(lines.map((line) => line.split(" ")[0]!)).toEqual(settings.map(({ name }) => name))
  const help = programHelp(COMMANDS, plain)
  for (const title of titles) expect(help).toContain(`\n  ${title}  `)
  expect(help).not.toContain("KEEP_ALERT_DAYS")
})

slow("the output for an empty list names the command that adds an entry", async () => {
  const env = await dataFolder()
  const database = await openFolder(env)
  await answer(["workspace", "create", "one"], { env })
  for (const [words, expected] of [
    [["app", "list"], "no tracked apps; add one by its link"],
    [["key", "list"], "no keys; create one with: appmeter key create"],
    [["link", "list"], "no open links; create one with: appmeter share"],
    [["channel", "list"], "no channels; add one with: appmeter channel add"],
    [["audit"], "no confirmed writes yet"],
  ] as const)
    expect([words, (await appmeter([...words], { env })).out.startsWith(expected)]).toEqual([words, true])
  await database.close()
})

slow("the program prints the whole output of a command and exits with the command's code", async () => {
  const typed = [["--help"], ["sevre"], ["doctor", "--json"]]
  const env = { PORT: "wrong" }
  const ended = await Promise.all(typed.map((args) => appmeterProcess(args, { env })))
  expect(ended).toEqual(await Promise.all(typed.map((args) => appmeter(args, { env }))))
  expect(ended.map(({ code }) => code)).toEqual([0, 2, 78])
})

describe("wrong usage exits with 2 and a one-line error", () => {
  test.each([
    [["sevre"], 'unknown command "sevre"; did you mean serve?'],
    [["key", "crate"], 'unknown command "key crate"; did you mean key create?'],
    [["app", "keywords", "ad"], 'unknown command "app keywords ad"; did you mean app keywords add?'],
    [["xyzzy"], 'unknown command "xyzzy"; list the commands with: appmeter --help'],
    [["key", "create", "--nmae", "x"], "unknown option --nmae; did you mean --name?"],
    [["key", "create", "--constructor"], "unknown option --constructor; see --help"],
    [["key", "create", "--name"], "--name needs a value: TEXT"],
    [["key", "create", "--name", "--json"], "--name needs a value: TEXT"],
    [["key", "create", "--test=yes"], "--test takes no value"],
    [["key", "create", "--name", "a", "--name", "b"], "--name can be given only once"],
    [["key", "create", "--budget", "many"], "--budget must be a whole number"],
    [
      ["key", "create", "--expires", "2027-02-30"],
      "--expires must be a day or time in UTC, such as 2027-01-31 or 2027-01-31T12:00:00Z",
    ],
    [["key", "revoke"], "<id> is missing: appmeter key revoke <id> [options]"],
    [["key", "revoke", "1", "2"], '"2" is an unexpected argument: appmeter key revoke <id> [options]'],
    [["workspace", "set", "a"], "no change was given; see: appmeter workspace set --help"],
    [["workspace", "set", "a", "--explorer", "maybe"], "--explorer must be yes or no"],
    [["workspace", "create", "a", "--limit", "credits"], "--limit must be NAME=AMOUNT, such as credits=50000"],
    [["app", "tag", "a", "b"], "give either --tag TAG or --none"],
    [
      ["app", "add", "--ios", "1", "--country", "usa"],
      '"usa" is not a storefront; use its two-letter code, such as us or de',
    ],
  ])("wrong usage exits with 2 and a hint: %j", async (args, line) => {
    const { code, out, err } = await appmeter(args, { env: { DATA_DIR: scratch() } })
    expect({ code, out, err }).toEqual({ code: 2, out: "", err: `appmeter: ${line}\n` })
  })

  test.each([[["key"]], [["key", "--json"]], [["app", "keywords", "--json", "--force"]]])(
    "a command group without a subcommand lists its subcommands: %j",
    async (args) => {
      const { code, out, err } = await appmeter(args)
      expect([code, out]).toEqual([2, ""])
      expect(err).toContain(args[0] === "key" ? "key revoke" : "app keywords add")
      expect((await appmeter([...args, "-h"])).code).toBe(0)
    },
  )

  test("without a command the help goes to stderr", async () => {
    const { code, out, err } = await appmeter([])
    expect([code, out]).toEqual([2, ""])
    expect(err).toContain("Commands")
  })
})

describe("invalid settings exit with 78", () => {
  slow("invalid settings are listed together and without secrets", async () => {
    const env = {
      PORT: "eighty",
      DATABASE_URL: "mysql://user:canary@host",
      UPSTASH_REDIS_REST_URL: "https://u.example",
      REDIS_URL_FILE: "/nonexistent",
      DATABSE_URL: "x",
    }
    const { code, out, err } = await appmeter(["serve"], { env })
    expect([code, out]).toEqual([78, ""])
    expect(err.split("\n").map((line) => line.trim().split(" ")[0])).toEqual([
      "appmeter:",
      "PORT",
      "DATABASE_URL",
      "REDIS_URL_FILE",
      "UPSTASH_REDIS_REST_TOKEN",
      "",
    ])
    expect(err).not.toContain("canary")
  })

  test("a misspelt setting causes a warning", async () => {
    const { code, err } = await appmeter(["openapi"], { env: { PUBLIC_ULR: "https://x.example" } })
    expect([code, err]).toEqual([0, "appmeter: warning: PUBLIC_ULR is not a setting; did you mean PUBLIC_URL?\n"])
  })
})

test("openapi prints the API document with PUBLIC_URL as its server", async () => {
  const { code, out } = await appmeter(["openapi"], { env: { PUBLIC_URL: "https://ranks.example.com/" } })
  expect(code).toBe(0)
  const document = JSON.parse(out)
  expect(document.servers).toEqual([{ url: "https://ranks.example.com/v1" }])
  expect(Object.keys(document.paths)).toContain("/apps/{appId}/keywords")
})

test("an unreachable database exits with 1 and a one-line error", async () => {
  const env = { DATABASE_URL: "postgres://user:canary@127.0.0.1:1/name" }
  const { code, out, err } = await appmeter(["workspace", "list"], { env })
  expect([code, out]).toEqual([1, ""])
  expect(err).toBe("appmeter: the database at 127.0.0.1:1/name is not reachable: nothing listens there\n")
})
