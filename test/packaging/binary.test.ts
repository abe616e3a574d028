import { expect, setDefaultTimeout } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { commitOf } from "../../src/database/assets.ts"
import { afterSlow, beforeSlow, slow } from "../long.ts"
import { type Alone, buildAlone, type Started, type StartOptions } from "./alone.ts"
import { type Serving, serving } from "./serving.ts"

setDefaultTimeout(60_000)

const root = join(import.meta.dirname, "../..")
let binary: Alone

beforeSlow(async () => {
  binary = await buildAlone()
})
afterSlow(() => binary.remove())

const served = (dataDir: string) => serving(binary, { env: { DATA_DIR: dataDir, PORT: "0" } })

async function stopped(server: Started): Promise<void> {
  server.kill("SIGTERM")
  expect(await server.exited).toBe(0)
}

const answer = async (args: string[], options: StartOptions) => {
  const { code, out, err } = await binary.run([...args, "--json"], options)
  expect([code, err]).toEqual([0, ""])
  return JSON.parse(out)
}

const call = async ({ url, key }: Serving, path: string) => {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
  return { status: response.status, body: await response.json() }
}

let firstStartMs = 0

slow("the binary in an empty folder prints its version, its help and its OpenAPI document", async () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  expect(await binary.run(["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" })
  const { out } = await binary.run(["version", "--json"])
  expect(JSON.parse(out)).toMatchObject({ version, commit: commitOf(), runtime: `Bun ${Bun.version}` })
  expect((await binary.run(["--help"])).out).toContain("appmeter serve")
  const document = await answer(["openapi"], {})
  expect(Object.keys(document.paths)).toContain("/apps")
  expect(await binary.run(["sevre"])).toMatchObject({ code: 2, out: "" })
  expect(readdirSync(binary.folder)).not.toContain(".appmeter")
})

slow(
  "the first start prints a working key, and a second start still has the key and the imported readings",
  async () => {
    const first = await served("first")
    firstStartMs = first.firstMs
    expect(await call(first, "/v1/apps")).toMatchObject({ status: 200, body: { apps: [] } })
    for (const path of ["/docs", "/docs/operate/data", "/docs/operate.md", "/v1/openapi.json", "/readyz"])
      expect((await fetch(first.url + path)).status).toBe(200)
    const env = { DATA_DIR: "first" }
    const stdin = readFileSync(join(root, "fixtures/demo/search-us-2025-10-25.jsonl"), "utf8").replaceAll(
      '"origin":"demo",',
      "",
    )
    const lines = stdin.trim().split("\n").length
    expect(await answer(["import", "-"], { env, stdin })).toMatchObject({ read: lines, recorded: lines, bad: [] })
    await stopped(first)

    const warm = await served("first")
    expect([warm.key, warm.out()]).toEqual([undefined, expect.stringContaining(warm.url)])
    expect(await call({ ...warm, key: first.key }, "/v1/apps")).toMatchObject({ status: 200 })
    expect(await answer(["import", "-"], { env, stdin })).toMatchObject({ recorded: 0, known: lines })
    await stopped(warm)
    expect(readdirSync(join(binary.folder, "first")).sort()).toEqual(["postgres", "server.lock"])
    process.stdout.write(
      `${binary.where}: first start to first 200 in ${Math.round(firstStartMs)} ms, ` +
        `warm ${Math.round(warm.firstMs)} ms\n`,
    )
  },
)

slow("the binary recognises text in a picture with its embedded files", async () => {
  const { findings } = JSON.parse((await binary.run(["doctor", "--json"], { env: { OCR_DATA: "none" } })).out)
  expect(findings.find(({ thing }: { thing: string }) => thing === "screenshots")).toMatchObject({
    state: "warning",
    says: expect.stringMatching(/^Tesseract recognises the test word in \d+ ms; trained data: eng$/),
  })
})

slow("the binary answers an assistant on stdin and stdout and prints the configuration for assistants", async () => {
  const env = { DATA_DIR: "assistant" }
  expect((await binary.run(["workspace", "create", "studio"], { env })).code).toBe(0)
  const { secret } = await answer(["key", "create"], { env })
  const line = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "list_apps", arguments: {} },
  })
  const { code, out, err } = await binary.run(["mcp"], { env: { ...env, APPMETER_KEY: secret }, stdin: `${line}\n` })
  expect([code, err, JSON.parse(out).result.structuredContent]).toEqual([0, "", { apps: [] }])
  const { out: text } = await binary.run(["packaging", "assistants"], { env })
  const { command, args } = JSON.parse(/```json\n([^`]*)```/.exec(text)![1]!).mcpServers.appmeter
  expect([command, args]).toEqual([expect.stringMatching(/^\/.*appmeter$/), ["mcp", "--tools", "daily"]])
})

slow("the binary's stack traces name files and lines of the source, and no folder of the build machine", async () => {
  const env = { DATA_DIR: "/proc/none", LOG_LEVEL: "debug" }
  const { code, err } = await binary.run(["workspace", "list"], { env })
  expect(code).toBe(1)
  expect(err).toMatch(/src\/database\/embedded\/open\.ts:\d+:\d+/)
  expect(err).not.toContain(root)
})

slow("the licences command names every package in the binary", async () => {
  const { code, out } = await binary.run(["licences"])
  expect(code).toBe(0)
  const { modules, carried, assets } = binary.contents
  const named = new Set(out.match(/^(?:@[\w.-]+\/)?[\w.-]+(?= \d+\.\d+\.\d+ \()/gm))
  const bundled = modules.flatMap(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(path)?.[1] ?? [],
  )
  expect(new Set(bundled).size).toBeGreaterThan(10)
  const origins = Object.values(carried).flatMap((origin) => origin ?? [])
  for (const name of new Set([...bundled, ...origins])) expect([name, named.has(name)]).toEqual([name, true])
  // all other files are from this repository or made by the build
  const rest = modules.filter((path) => !path.includes("node_modules/"))
  expect(rest.filter((path) => !/^(src|sql|fixtures)\/|^package\.json$/.test(path))).toEqual([])
  expect(assets.sort()).toEqual([
    "NOTICES",
    "commit",
    "demo",
    "engine-files",
    "manual",
    "package.json",
    "pages",
    "sandbox",
    "sql",
  ])
  for (const within of ["PostgreSQL", "Tesseract", "Public Suffix List", "JavaScriptCore"])
    expect(out).toContain(within)
  for (const text of ["Apache License", "University of California", "GNU LESSER GENERAL PUBLIC LICENSE"])
    expect(out).toContain(text)
})

const KILLS = 4

slow(`a first start killed at ${KILLS} different moments never leaves a broken data directory`, async () => {
  let [emptyCount, whole] = [0, 0]
  for (let round = 1; round <= KILLS; round++) {
    const dataDir = `killed-${round}`
    const server = binary.start(["serve"], { env: { DATA_DIR: dataDir, PORT: "0" } })
    await Bun.sleep((firstStartMs * round) / KILLS)
    server.kill("SIGKILL")
    await server.exited
    if (!existsSync(join(binary.folder, dataDir, "postgres"))) {
      emptyCount++
      continue
    }
    whole++
    expect(await answer(["workspace", "list"], { env: { DATA_DIR: dataDir } })).toHaveProperty("workspaces")
  }
  // the next start removes the leftovers of a start that was killed while unpacking
  const halfMade = readdirSync(binary.folder).filter(
    (name) => /^killed/.test(name) && readdirSync(join(binary.folder, name)).some((entry) => entry.includes(".new-")),
  )
  process.stdout.write(
    `${KILLS} kills: ${emptyCount} before there was a directory, ${whole} after; ` +
      `${halfMade.length} left a half one beside\n`,
  )
  const last = await served(halfMade[0] ?? "killed-1")
  expect(await call(last, "/v1/apps")).toMatchObject({ status: 200, body: { apps: [] } })
  await stopped(last)
  expect(readdirSync(join(binary.folder, halfMade[0] ?? "killed-1")).sort()).toEqual(["postgres", "server.lock"])
})
