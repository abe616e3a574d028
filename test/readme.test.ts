import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { actions, catalog } from "../src/catalog.ts"
import { COMMANDS } from "../src/commands/all.ts"
import { parseArguments } from "../src/commands/arguments.ts"
import { FAULTS, type FaultCode } from "../src/faults.ts"
import { priceRange, TOOLSETS } from "../src/operation.ts"
import { settingsTable } from "../src/settings/settings.ts"
import { LEGACY, MODERN } from "../src/surfaces/tools/eras.ts"
import { freshDatabase } from "./database.ts"
import { type House, openHouse } from "./house.ts"
import { printed } from "./shell.ts"

const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8")

test("the README opens with the two commands that do everything", () => {
  const commands = readme.split("\n").filter((line) => line.startsWith("npx"))
  expect(commands.map((line) => line.split("#")[0]?.trim())).toEqual([
    "npx -y bun@1.4.5 run start",
    "npx -y bun@1.4.5 run test",
  ])
})

test("the README's settings are those of the code", () => {
  expect(readme).toContain(`\n\`\`\`\n${settingsTable().trimEnd()}\n\`\`\`\n`)
})

test("the README names every call with its price, and none that is not there", () => {
  const rows = cells(readme).filter(([call]) => /^`(GET|POST) /.test(call as string))
  const named = rows.flatMap(([calls, credits]) =>
    [...calls!.matchAll(/`(\w+ [^`]+)`/g)].map(([, call]) => `${call} ${credits}`),
  )
  const built = catalog.map(({ method, path, price }) => {
    const { min, atMost } = priceRange(price)
    return `${method} /v1${path.replaceAll(/:(\w+)/g, "{$1}")} ${min === atMost ? min : `${min} to ${atMost}`}`
  })
  expect(named.sort()).toEqual(built.sort())
})

test("every command in the README is typed right, and audit is among them", async () => {
  const lines = readme.split("\n").filter((line) => line.startsWith("bun src/main.ts "))
  expect(lines.length).toBeGreaterThan(3)
  for (const line of lines) {
    const words = await printed(`printf '%s\\n' ${line.slice("bun src/main.ts ".length)}`, {})
    const command = COMMANDS.filter(({ name }) => `${words.join(" ")} `.startsWith(`${name} `)).at(-1)
    expect([line, command?.name]).toEqual([line, expect.any(String)])
    parseArguments(command!, words.slice(command!.name.split(" ").length))
  }
  expect(lines.some((line) => line.startsWith("bun src/main.ts audit"))).toBe(true)
})

describe("what the README says to assistants", () => {
  const section = sectionOf("For assistants")

  test("names every toolset and only versions that are spoken", () => {
    const named = section.match(/The toolsets are[^;]*;/)?.[0].match(/(?<=`)\w+(?=`)/g)
    expect(named).toEqual([...TOOLSETS])
    const versions = section.match(/\d{4}-\d\d-\d\d/g) ?? []
    expect(versions).toHaveLength(3)
    expect([...LEGACY, ...MODERN]).toEqual(expect.arrayContaining(versions))
  })

  test("shows a configuration that is JSON, with URL and header", () => {
    const { appmeter } = JSON.parse(/```json\n([^`]*)```/.exec(section)![1]!).mcpServers
    expect(appmeter).toMatchObject({ url: "http://127.0.0.1:8787/mcp", headers: { Authorization: "Bearer <key>" } })
  })
})

describe("what the README says of writes", () => {
  const section = sectionOf("Writes")
  let house: House
  let server: Bun.Server<undefined>

  beforeAll(async () => {
    house = openHouse({ sql: await freshDatabase() })
    server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => house.app.fetch(request, "127.0.0.1") })
  })
  afterAll(async () => {
    await server.stop(true)
  })

  test("names every action with its credits and scope, and no other", () => {
    const rows = cells(section).filter(([name]) => actions.some((action) => `\`${action.name}\`` === name))
    expect(rows).toEqual(
      actions.map(({ name, credits, scope, destructive }) => [
        `\`${name}\``, `${credits}`, `\`${scope}\``, destructive ? "yes" : "no",
      ]), // biome-ignore format: one row of the table
    )
    const table = section.split("| action ")[1]!.split("\n\n")[0]!
    expect(table.split("\n")).toHaveLength(2 + actions.length)
  })

  test("names every refusal of a write's own under its status", () => {
    const rows = cells(section).filter(([status]) => /^\d{3}$/.test(status as string))
    const named = rows.flatMap(([status, codes]) =>
      codes!.match(/\w{3,}/g)!.map((code) => [code, Number(status)] as const),
    )
    for (const [code, status] of named) expect([code, FAULTS[code as FaultCode]?.status]).toEqual([code, status])
    const own = catalog.filter(({ id }) => id === "preview_action" || id === "confirm_action")
    const declared = own.flatMap(({ faults }) => faults)
    expect(declared).toContain("confirm_token_mismatch")
    expect(named.map(([code]) => code)).toEqual(
      expect.arrayContaining([
        ...declared,
        "unknown_action",
        "scope_required",
        "test_key_read_only",
        "credits_exhausted",
      ]),
    )
  })

  test("shows lines that work as pasted: a preview, and the confirm of its token", async () => {
    const [variables, preview, confirm] = /```sh\n([^`]*)```/.exec(section)![1]!.trim().split("\n") as string[]
    const here = variables!.replace("http://127.0.0.1:8787", server.url.origin)
    expect(here).not.toBe(variables!)
    const env = { APPMETER_KEY: await house.key(await house.workspace()) }
    const [shown] = await printed(`${here}\n${preview}`, env)
    const { confirmToken, ...previewed } = JSON.parse(shown!)
    expect(previewed).toMatchObject({ action: "add_app", credits: 2 })
    const [done] = await printed(`${here}\n${confirm}`, { ...env, TOKEN: confirmToken })
    expect(JSON.parse(done!)).toMatchObject({ action: "add_app", status: "applied", credits: 2 })
  })
})

function sectionOf(title: string): string {
  return readme.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] as string
}

/** The rows of every table, without their headings' rulers. */
function cells(text: string): string[][] {
  const rows = text.split("\n").filter((line) => line.startsWith("| "))
  return rows.map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim())) // biome-ignore format: one row
}
