import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { ASSISTANTS, SAMPLE } from "../../src/docs/assistants.ts"
import { pageOf } from "../docs/pages.ts"
import { slow } from "../long.ts"
import { answer, appmeter, dataFolder, openFolder, removeFolders } from "./child.ts"

setDefaultTimeout(60_000)
afterAll(removeFolders)

const PACKAGE = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"))

async function printPackaging(args: string[], env: Record<string, string> = {}): Promise<string> {
  const { code, out, err } = await appmeter(["packaging", ...args], { env })
  expect([code, err]).toEqual([0, ""])
  return out
}

interface Entry {
  type?: string
  command?: string
  args?: string[]
  env?: Record<string, string>
  env_vars?: string[]
  url?: string
  httpUrl?: string
  headers?: Record<string, string>
  bearer_token_env_var?: string
}

/** Returns the entries for our server in an assistant's files: first as a program, then as an address. */
function entriesIn(text: string): Map<string, Entry[]> {
  const sections = text.split(/^## /m).slice(1)
  return new Map(
    sections.map((section) => {
      const files = [...section.matchAll(/```(json|toml)\n([^`]*)```/g)]
      const entries = files.map(([, language, file]) => {
        const value = (language === "toml" ? Bun.TOML.parse(file!) : JSON.parse(file!)) as Record<
          string,
          Record<string, Entry>
        >
        return (value.mcpServers ?? value.servers ?? value.mcp_servers)!.appmeter as Entry
      })
      return [section.split("\n")[0]!, entries]
    }),
  )
}

const NAMES = ["Claude Code", "Claude Desktop", "Cursor", "VS Code", "Codex", "Gemini CLI"]

describe("packaging assistants", () => {
  test("packaging assistants prints every format with this program, an absolute folder and no key", async () => {
    const env = await dataFolder()
    const secret = "svc_live_0000"
    const entries = entriesIn(await printPackaging(["assistants"], { ...env, APPMETER_KEY: secret }))
    expect([...entries.keys()]).toEqual(NAMES)
    for (const [name, [program, server]] of entries) {
      const { command, args, env: programEnv, env_vars } = program!
      expect([name, command, args?.slice(0, 2)]).toEqual([name, "npx", ["-y", "bun@1.4.5"]])
      expect(args?.slice(-3)).toEqual(["mcp", "--tools", "daily"])
      expect(existsSync(args![2]!)).toBe(true)
      expect([name, programEnv?.DATA_DIR]).toEqual([name, env.DATA_DIR])
      expect([name, programEnv?.APPMETER_KEY ?? env_vars]).toEqual([name, KEYS[name as keyof typeof KEYS]])
      if (name === "Claude Desktop") expect(server).toBeUndefined()
      else expect([name, server]).toEqual([name, SERVERS[name as keyof typeof SERVERS]])
    }
  })

  slow("the printed command answers an assistant, whatever the folder in which it is started", async () => {
    const env = await dataFolder()
    const database = await openFolder(env)
    await answer(["workspace", "create", "studio"], { env })
    const { secret } = await answer(["key", "create"], { env })
    await database.close()
    const [program] = entriesIn(await printPackaging(["assistants"], env)).get("Claude Desktop")!
    // npx downloads the Bun that runs this test
    expect(program!.args!.slice(0, 2)).toEqual(["-y", `bun@${PACKAGE.engines.bun.replace(">=", "")}`])
    const client = new Client({ name: "test", version: "1" })
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: program!.args!.slice(2),
      env: { ...program!.env!, APPMETER_KEY: secret },
      cwd: "/",
    })
    await client.connect(transport)
    expect((await client.callTool({ name: "list_apps", arguments: {} })).structuredContent).toEqual({ apps: [] })
    await client.close()
  })

  test("packaging assistants prints the URL of a configured server, and never the address of a database", async () => {
    const DATABASE_URL = "postgres://user:canary@db.example.com/x"
    for (const [args, env, origin] of [
      [["--name", "ranks.acme.test"], {}, "https://ranks.acme.test"],
      [[], { PUBLIC_URL: "https://public.example" }, "https://public.example"],
      [[], { APPMETER_URL: "https://asked.example/mcp/" }, "https://asked.example"],
      [[], { DATABASE_URL, PORT: "9000" }, "http://127.0.0.1:9000"],
    ] as const) {
      const text = await printPackaging(["assistants", ...args], env)
      expect(text).not.toContain("canary")
      for (const [name, [program, server]] of entriesIn(text)) {
        expect([name, program!.env!.APPMETER_URL, program!.env!.DATA_DIR]).toEqual([name, origin, undefined])
        if (server) expect([name, server.url ?? server.httpUrl]).toEqual([name, `${origin}/mcp?tools=daily`])
      }
    }
  })

  test("the manual shows the printed configurations and names assistants that need a public address", () => {
    const entries = entriesIn(pageOf("assistants"))
    expect([...entries.keys()].slice(0, NAMES.length)).toEqual(NAMES)
    for (const { name, language, stdio, http } of ASSISTANTS) {
      const files = [stdio(SAMPLE), http(SAMPLE)].filter((file) => file !== null)
      for (const file of files) expect(pageOf("assistants")).toContain(`\`\`\`${language}\n${file.trim()}\n\`\`\``)
      expect(entries.get(name)).toHaveLength(files.length)
    }
    expect(pageOf("assistants")).toMatch(/## ChatGPT and Claude\.ai\n[^#]*reach no loopback or private address/)
  })
})

const brace = (name: string) => `\${${name}}`
/** The way in which each assistant reads a key from its environment. */
const KEYS = {
  "Claude Code": brace("APPMETER_KEY"),
  "Claude Desktop": "<key>",
  Cursor: brace("env:APPMETER_KEY"),
  "VS Code": brace("input:appmeter-key"),
  Codex: ["APPMETER_KEY"],
  "Gemini CLI": "$APPMETER_KEY",
}
const URL_OF_IT = "http://127.0.0.1:8787/mcp?tools=daily"
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })
const SERVERS = {
  "Claude Code": { type: "http", url: URL_OF_IT, headers: bearer(KEYS["Claude Code"]) },
  Cursor: { url: URL_OF_IT, headers: bearer(KEYS.Cursor) },
  "VS Code": { type: "http", url: URL_OF_IT, headers: bearer(KEYS["VS Code"]) },
  Codex: { url: URL_OF_IT, bearer_token_env_var: "APPMETER_KEY" },
  "Gemini CLI": { httpUrl: URL_OF_IT, headers: bearer(KEYS["Gemini CLI"]) },
}

describe("packaging mcp-registry", () => {
  // The rules of https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json for its fields.
  test("packaging mcp-registry prints a valid server.json with a secret header and no package", async () => {
    const entry = JSON.parse(await printPackaging(["mcp-registry", "--name", "ranks.acme.test"]))
    expect(Object.keys(entry)).toEqual(["$schema", "name", "title", "description", "version", "websiteUrl", "remotes"])
    expect(entry.$schema).toBe("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json")
    expect(entry.name).toBe("test.acme.ranks/appmeter")
    expect(entry.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
    expect([entry.description, entry.version]).toEqual([PACKAGE.description, PACKAGE.version])
    for (const text of [entry.title, entry.description]) {
      expect(text.length).toBeGreaterThan(0)
      expect(text.length).toBeLessThanOrEqual(100)
    }
    const [{ type, url, headers }, ...rest] = entry.remotes
    expect([type, url, rest]).toEqual(["streamable-http", "https://ranks.acme.test/mcp", []])
    const [{ name, value, variables, isSecret, isRequired }] = headers
    expect([name, value, isSecret, isRequired]).toEqual(["Authorization", "Bearer {key}", true, true])
    expect(variables).toEqual({ key: expect.objectContaining({ isSecret: true, isRequired: true }) })
  })

  test("packaging mcp-registry adds a package for a given image, with its key from the environment", async () => {
    const image = "ghcr.io/acme/appmeter:1.0.0"
    const [only, ...rest] = JSON.parse(await printPackaging(["mcp-registry", "--image", image])).packages
    expect(rest).toEqual([])
    expect(only).toMatchObject({ registryType: "oci", identifier: image, transport: { type: "stdio" } })
    expect(only.packageArguments).toEqual([{ type: "positional", value: "mcp" }])
    const [key, url] = only.environmentVariables
    expect([key.name, key.isSecret, key.isRequired]).toEqual(["APPMETER_KEY", true, true])
    expect([url.name, url.default]).toEqual(["APPMETER_URL", "https://ranks.example.com"])
    for (const wrong of ["ghcr.io/acme/appmeter", "acme/appmeter:latest --privileged", "../x:1"]) {
      const { code, err } = await appmeter(["packaging", "mcp-registry", "--image", wrong])
      expect([code, err]).toEqual([2, expect.stringContaining("--image must be an image with a tag or digest")])
    }
  })
})
