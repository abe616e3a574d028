import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { COMMANDS } from "../src/commands/all.ts"
import { parseArguments } from "../src/commands/cli/arguments.ts"
import { TOOLSETS } from "../src/core/operation.ts"
import { LEGACY, MODERN } from "../src/http/tools/eras.ts"
import { freshDatabase } from "./database.ts"
import { manual } from "./docs/pages.ts"
import { openService, type Service } from "./service.ts"
import { printed } from "./shell.ts"

const root = join(import.meta.dirname, "..")
const readme = readFileSync(join(root, "README.md"), "utf8")

test("the README opens with the two commands that set up everything", () => {
  const commands = readme.split("\n").filter((line) => line.startsWith("npx"))
  expect(commands.map((line) => line.split("#")[0]?.trim())).toEqual([
    "npx -y bun@1.4.5 run start",
    "npx -y bun@1.4.5 run test",
  ])
})

test("the README has at most 8 KB, and every file that it links to exists", () => {
  expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(8_192)
  const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target as string)
  expect(links).toContain(".github/app.png")
  expect(links.filter((target) => !existsSync(join(root, target)))).toEqual([])
})

test("every command in the README and the manual is valid, and audit is one of them", async () => {
  const commands = (text: string) => {
    const lines = text.replaceAll(/ \\\n +/g, " ").split("\n")
    return lines.filter((line) => /^(bun src\/main\.ts|appmeter) /.test(line))
  }
  expect(commands(readme).length).toBeGreaterThan(3)
  expect(commands([...manual.values()].join("\n")).length).toBeGreaterThan(20)
  for (const line of [readme, ...manual.values()].flatMap(commands)) {
    const words = await printed(`printf '%s\\n' ${line.replace(/^(bun src\/main\.ts|appmeter) | [<>] \S+/g, "")}`, {})
    // help lists the commands and is not in its own list
    if (words.join(" ") === "help") continue
    const command = COMMANDS.filter(({ name }) => `${words.join(" ")} `.startsWith(`${name} `)).at(-1)
    expect([line, command?.name]).toEqual([line, expect.any(String)])
    parseArguments(command!, words.slice(command!.name.split(" ").length))
  }
  expect(commands(readme).some((line) => line.startsWith("bun src/main.ts audit"))).toBe(true)
})

describe("the README for callers", () => {
  let service: Service
  let server: Bun.Server<undefined>

  beforeAll(async () => {
    service = openService({ sql: await freshDatabase() })
    server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => service.app.fetch(request, "127.0.0.1") })
  })
  afterAll(async () => {
    await server.stop(true)
  })

  test("the README has three commands that work as pasted", async () => {
    const lines = readme.split("\n").filter((line) => line.startsWith("curl "))
    expect(lines).toHaveLength(3)
    const env = { APPMETER_KEY: await service.key(await service.workspace()) }
    for (const line of lines) {
      expect(line).toContain("http://127.0.0.1:8787/v1/")
      const [answer] = await printed(line.replace("http://127.0.0.1:8787", server.url.origin), env)
      expect([line, Object.keys(JSON.parse(answer!))]).not.toEqual([line, expect.arrayContaining(["error"])])
    }
  })

  test("the README names only pages that are served", async () => {
    for (const path of ["/docs", "/docs/errors", "/docs/operate", "/v1/openapi.json", "/llms.txt"]) {
      expect(readme).toContain(`\`${path}\``)
      expect([path, (await service.call(path)).status]).toEqual([path, 200])
    }
  })
})

describe("the README for assistants", () => {
  const section = readme.split("\n## Connect an assistant\n")[1]?.split("\n## ")[0] as string

  test("the README names every toolset and only supported protocol versions", () => {
    const named = section.match(/The toolsets are[^;]*;/)?.[0].match(/(?<=`)\w+(?=`)/g)
    expect(named).toEqual([...TOOLSETS])
    const versions = section.match(/\d{4}-\d\d-\d\d/g) ?? []
    expect(versions).toHaveLength(3)
    expect([...LEGACY, ...MODERN]).toEqual(expect.arrayContaining(versions))
  })

  test("the README shows a JSON configuration with URL and header, and links to the page about assistants", () => {
    const [, configuration] = /^code --add-mcp '([^']*)'$/m.exec(section)!
    expect(JSON.parse(configuration!)).toEqual({
      name: "appmeter",
      type: "http",
      url: "http://127.0.0.1:8787/mcp",
      headers: { Authorization: "Bearer <key>" },
    })
    expect(section).toContain("](src/docs/manual/assistants.md)")
  })
})
