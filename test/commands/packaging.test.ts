import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { readSettings, secretNames, settingsTable } from "../../src/settings/settings.ts"
import { appmeter, dataFolder, removeFolders, type Serving, scratch, serving } from "./child.ts"
import { printed } from "./printed.ts"

setDefaultTimeout(60_000)
afterAll(removeFolders)

/** Whether these programs are on this machine; says so when not, for no test may be skipped unnoticed. */
function has(...programs: string[]): boolean {
  const missing = programs.filter((program) => !Bun.which(program))
  if (missing.length > 0) console.log(`not checked here: ${missing.join(", ")} is missing`)
  return missing.length === 0
}

const KINDS = ["systemd", "container", "caddy", "haproxy", "nginx"]
const everySecret = { secret: secretNames() }

describe("every packaging", () => {
  test.each(KINDS)("%s names only settings that there are, with values that are taken", async (kind) => {
    const text = await printed(kind, everySecret)
    const names = [...text.matchAll(/\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|HOST|PORT)(?:_FILE)?(?==|\b)/g)].map(
      ([, name]) => name!,
    )
    expect(names.length).toBeGreaterThan(1)
    const known = [...SETTING_NAMES, ...FOREIGN]
    expect(names.map((name) => name.replace(/_FILE$/, "")).filter((name) => !known.includes(name))).toEqual([])
    const given = [...text.matchAll(/\b([A-Z][A-Z_]+)=([^\s]+)/g)].map(([, name, value]) => [name!, value!])
    const env = Object.fromEntries(given.filter(([name]) => SETTING_NAMES.includes(name!)))
    expect(Object.keys(env).length).toBeGreaterThan(0)
    readSettings(env, () => "")
  })

  test("is one text on stdout; a kind, a secret or a name that cannot be is wrong use", async () => {
    const { code, out, err } = await appmeter(["packaging", "nginx", "--name", "ranks.acme.test"])
    expect([code, err]).toEqual([0, ""])
    expect(out).toBe(await printed("nginx", { name: ["ranks.acme.test"] }))
    expect(out).toContain("server_name ranks.acme.test;")
    for (const [kind, options, why] of [
      ["windows", {}, "systemd, container, compose, caddy, haproxy, nginx"],
      ["constructor", {}, "systemd"],
      ["systemd", { secret: ["PORT"] }, "DATABASE_URL"],
      ["nginx", { name: ["x; include /etc/passwd"] }, "host name"],
      ["nginx", { upstream: ["127.0.0.1:8787;include"] }, "a host and a port"],
      ["haproxy", { upstream: ["10.0.0.1:8787", "10.0.0.2"] }, "a host and a port"],
      ["caddy", { upstream: ["10.0.0.1:70000"] }, "a host and a port"],
      ["caddy", { upstream: ["[::1:8787"] }, "a host and a port"],
      ["systemd", { upstream: ["10.0.0.1:8787"] }, "caddy, haproxy, nginx"],
    ] as const) {
      const error = await printed(kind, options as never).catch((e: Error) => e)
      expect([(error as Error).name, (error as Error).message]).toEqual(["WrongUse", expect.stringContaining(why)])
    }
  })
})

// Words in capitals that are no settings: of systemd, of the image format and of nginx.
const SETTING_NAMES = settingsTable()
  .split("\n")
  .map((line) => line.split(" ")[0]!)
const FOREIGN = ["AF_INET", "AF_INET6", "AF_UNIX"]

describe("the systemd unit", () => {
  test("reads every secret from a credential, and holds none itself", async () => {
    const unit = await printed("systemd", everySecret)
    for (const name of secretNames()) {
      expect(unit).toContain(`LoadCredential=${name}:/etc/appmeter/${name}\nEnvironment=${name}_FILE=%d/${name}\n`)
      expect(unit).not.toMatch(new RegExp(`^Environment=${name}=`, "m"))
    }
    expect(await printed("systemd")).not.toContain("LoadCredential=")
  })

  test("runs without root, may write to its own folder alone, and leaves a stop its 25 s", async () => {
    const unit = await printed("systemd")
    for (const line of ["DynamicUser=yes", "StateDirectory=appmeter", "ProtectSystem=strict", "NoNewPrivileges=yes"])
      expect(unit).toContain(`\n${line}\n`)
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1])).toBeGreaterThan(25)
    expect(unit).not.toMatch(/^(MemoryDenyWriteExecute=yes|WatchdogSec|User=root)/m)
  })

  test("is a unit: sections, and one assignment a line", async () => {
    const lines = (await printed("systemd", everySecret)).split("\n").filter((line) => line && !line.startsWith("#"))
    expect(lines.filter((line) => line.startsWith("["))).toEqual(["[Unit]", "[Service]", "[Install]"])
    expect(lines.filter((line) => !/^(\[\w+\]|[A-Z]\w+=.*)$/.test(line))).toEqual([])
  })

  test("systemd-analyze, where it is, finds nothing wrong with it", async () => {
    if (!has("systemd-analyze")) return
    const folder = scratch()
    const unit = (await printed("systemd", everySecret)).replaceAll("/usr/local/bin/appmeter", process.execPath)
    writeFileSync(join(folder, "appmeter.service"), unit)
    const { exitCode, stderr } = Bun.spawnSync([
      "systemd-analyze",
      "verify",
      "--man=no",
      join(folder, "appmeter.service"),
    ])
    const own = stderr
      .toString()
      .split("\n")
      .filter((line) => line.includes("appmeter.service"))
    expect([exitCode, own]).toEqual([0, []])
  })
})

describe("the container", () => {
  test("has two stages, no root, a volume that its user may write, and a health check without a shell", async () => {
    const file = await printed("container")
    expect(file.match(/^FROM /gm)).toHaveLength(2)
    const last = file.slice(file.lastIndexOf("FROM "))
    expect(last).toMatch(/^USER (?!0|root)\d+:\d+$/m)
    const [, user] = /^USER (\S+)$/m.exec(last)!
    expect(last).toContain(`COPY --from=build --chown=${user} /out/data /var/lib/appmeter\n`)
    expect(last).toContain("\nVOLUME /var/lib/appmeter\n")
    expect(last).not.toMatch(/^RUN /m)
    const [, check] = /^HEALTHCHECK .* CMD (.+)$/m.exec(last)!
    expect(JSON.parse(check!)).toEqual(["/usr/local/bin/appmeter", "ready"])
    expect(JSON.parse(/^ENTRYPOINT (.+)$/m.exec(last)![1]!)).toEqual(["/usr/local/bin/appmeter"])
  })

  test("takes secrets from files, and never bakes one in", async () => {
    const file = await printed("container", everySecret)
    for (const name of secretNames()) expect(file).toContain(` ${name}_FILE=/run/secrets/${name}`)
    for (const name of secretNames()) expect(file).not.toMatch(new RegExp(`\\b${name}=`))
  })
})

describe("the health check", () => {
  let server: Serving
  let PORT: string

  beforeAll(async () => {
    server = await serving({ env: await dataFolder() })
    PORT = new URL(server.url).port
  })

  test("ends with 0 while the server takes calls, whatever proxy the environment names, and opens no database", async () => {
    const env = {
      PORT,
      DATA_DIR: join(scratch(), "none"),
      HTTP_PROXY: "http://127.0.0.1:1",
      http_proxy: "http://127.0.0.1:1",
    }
    expect(await appmeter(["ready"], { env })).toEqual({ code: 0, out: "ready\n", err: "" })
    expect(await appmeter(["ready"], { env: { ...env, HOST: "0.0.0.0" } })).toMatchObject({ code: 0 })
  })

  test("ends with 1 and one line where nothing listens, or what listens is not ready", async () => {
    const busy = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("", { status: 503 }) })
    const env = { PORT: String(busy.port) }
    const url = `http://127.0.0.1:${busy.port}/readyz`
    expect(await appmeter(["ready"], { env })).toEqual({
      code: 1, out: "", err: `appmeter: not ready: ${url} answered 503\n`,
    }) // biome-ignore format: one answer
    await busy.stop(true)
    expect(await appmeter(["ready"], { env })).toEqual({
      code: 1, out: "", err: `appmeter: not ready: ${url} is not reachable\n`,
    }) // biome-ignore format: one answer
    expect((await appmeter(["ready"], { env: { PORT: "0" } })).code).toBe(2)
  })

  test("ends with 1 in time where the server has stopped to answer", async () => {
    const silent = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data() {} } })
    const { code, err } = await appmeter(["ready"], { env: { PORT: String(silent.port) } })
    expect([code, err]).toEqual([1, expect.stringContaining("did not answer in 2500 ms")])
    silent.stop(true)
  })

  afterAll(async () => {
    server.kill()
    expect(await server.exited).toBe(0)
  })
})
