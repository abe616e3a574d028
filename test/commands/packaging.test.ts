import { describe, expect, setDefaultTimeout } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { versionOf } from "../../src/database/assets.ts"
import { describedSettings, readSettings, secretNames } from "../../src/settings/settings.ts"
import { afterSlow, beforeSlow, slow } from "../long.ts"
import { appmeter, dataFolder, removeFolders, type Serving, scratch, serving } from "./child.ts"
import { printed } from "./printed.ts"

setDefaultTimeout(60_000)
afterSlow(removeFolders)

/** Returns whether these programs are installed. Prints it if not, so that no test is skipped unnoticed. */
function has(...programs: string[]): boolean {
  const missing = programs.filter((program) => !Bun.which(program))
  if (missing.length > 0) console.log(`not checked here: ${missing.join(", ")} is missing`)
  return missing.length === 0
}

const KINDS = ["systemd", "container", "caddy", "haproxy", "nginx"]
const everySecret = { secret: secretNames() }

describe("every packaging", () => {
  slow.each(KINDS)("packaging %s names only existing settings with valid values", async (kind) => {
    const text = await printed(kind, everySecret)
    const names = [...text.matchAll(/\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|HOST|PORT)(?:_FILE)?(?==|\b)/g)].map(
      ([, name]) => name!,
    )
    expect(names.length).toBeGreaterThan(1)
    const settings = [...SETTING_NAMES, ...FOREIGN]
    expect(names.map((name) => name.replace(/_FILE$/, "")).filter((name) => !settings.includes(name))).toEqual([])
    const assignments = [...text.matchAll(/\b([A-Z][A-Z_]+)=([^\s]+)/g)].map(([, name, value]) => [name!, value!])
    const env = Object.fromEntries(assignments.filter(([name]) => SETTING_NAMES.includes(name!)))
    expect(Object.keys(env).length).toBeGreaterThan(0)
    readSettings(env, () => "")
  })

  slow(
    "packaging prints only the requested file, and refuses an invalid kind, secret, host name or upstream",
    async () => {
      const { code, out, err } = await appmeter(["packaging", "nginx", "--name", "ranks.acme.test"])
      expect([code, err]).toEqual([0, ""])
      expect(out).toBe(await printed("nginx", { name: ["ranks.acme.test"] }))
      expect(out).toContain("server_name ranks.acme.test;")
      for (const [kind, options, expected] of [
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
        expect([(error as Error).name, (error as Error).message]).toEqual([
          "WrongUse",
          expect.stringContaining(expected),
        ])
      }
    },
  )
})

// Words in capitals that are not settings but belong to systemd, the image format or nginx.
const SETTING_NAMES = describedSettings().map(({ name }) => name)
const FOREIGN = ["AF_INET", "AF_INET6", "AF_UNIX"]

describe("the systemd unit", () => {
  slow("the systemd unit reads every secret from a credential and contains none", async () => {
    const unit = await printed("systemd", everySecret)
    for (const name of secretNames()) {
      expect(unit).toContain(`LoadCredential=${name}:/etc/appmeter/${name}\nEnvironment=${name}_FILE=%d/${name}\n`)
      expect(unit).not.toMatch(new RegExp(`^Environment=${name}=`, "m"))
    }
    expect(await printed("systemd")).not.toContain("LoadCredential=")
  })

  slow("the systemd unit runs without root, writes only to its folder and allows 25 s for a stop", async () => {
    const unit = await printed("systemd")
    for (const line of ["DynamicUser=yes", "StateDirectory=appmeter", "ProtectSystem=strict", "NoNewPrivileges=yes"])
      expect(unit).toContain(`\n${line}\n`)
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1])).toBeGreaterThan(25)
    expect(unit).not.toMatch(/^(MemoryDenyWriteExecute=yes|WatchdogSec|User=root)/m)
  })

  slow("the systemd unit has sections with one assignment per line", async () => {
    const lines = (await printed("systemd", everySecret)).split("\n").filter((line) => line && !line.startsWith("#"))
    expect(lines.filter((line) => line.startsWith("["))).toEqual(["[Unit]", "[Service]", "[Install]"])
    expect(lines.filter((line) => !/^(\[\w+\]|[A-Z]\w+=.*)$/.test(line))).toEqual([])
  })

  slow("systemd-analyze, if installed, accepts the unit", async () => {
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
    const complaints = stderr
      .toString()
      .split("\n")
      .filter((line) => line.includes("appmeter.service"))
    expect([exitCode, complaints]).toEqual([0, []])
  })
})

describe("the container", () => {
  slow("the container has two stages, no root, a writable volume and a health check without a shell", async () => {
    const file = await printed("container")
    expect(file.match(/^FROM /gm)).toHaveLength(2)
    expect(file).toContain(`\nADD appmeter-${versionOf()}-linux-*.tar.xz /unpacked/\n`)
    const last = file.slice(file.lastIndexOf("FROM "))
    expect(last).toMatch(/^USER (?!0|root)\d+:\d+$/m)
    const [, user] = /^USER (\S+)$/m.exec(last)!
    expect(last).toContain(`COPY --from=unpack --chown=${user} /data /var/lib/appmeter\n`)
    expect(last).toContain("\nVOLUME /var/lib/appmeter\n")
    expect(last).not.toMatch(/^RUN /m)
    const [, check] = /^HEALTHCHECK .* CMD (.+)$/m.exec(last)!
    expect(JSON.parse(check!)).toEqual(["/usr/local/bin/appmeter", "ready"])
    expect(JSON.parse(/^ENTRYPOINT (.+)$/m.exec(last)![1]!)).toEqual(["/usr/local/bin/appmeter"])
  })

  slow("the container reads secrets from files and contains none", async () => {
    const file = await printed("container", everySecret)
    for (const name of secretNames()) expect(file).toContain(` ${name}_FILE=/run/secrets/${name}`)
    for (const name of secretNames()) expect(file).not.toMatch(new RegExp(`\\b${name}=`))
  })
})

describe("the health check", () => {
  let server: Serving
  let PORT: string

  beforeSlow(async () => {
    server = await serving({ env: await dataFolder() })
    PORT = new URL(server.url).port
  })

  slow("the command ready exits with 0 if the server accepts calls, and uses no proxy and no database", async () => {
    const env = {
      PORT,
      DATA_DIR: join(scratch(), "none"),
      HTTP_PROXY: "http://127.0.0.1:1",
      http_proxy: "http://127.0.0.1:1",
    }
    expect(await appmeter(["ready"], { env })).toEqual({ code: 0, out: "ready\n", err: "" })
    expect(await appmeter(["ready"], { env: { ...env, HOST: "0.0.0.0" } })).toMatchObject({ code: 0 })
  })

  slow(
    "the command ready exits with 1 and a one-line error if nothing listens or the server is not ready",
    async () => {
      const busy = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("", { status: 503 }) })
      const env = { PORT: String(busy.port) }
      const url = `http://127.0.0.1:${busy.port}/readyz`
      expect(await appmeter(["ready"], { env })).toEqual({
        code: 1,
        out: "",
        err: `appmeter: not ready: ${url} answered 503\n`,
      })
      await busy.stop(true)
      expect(await appmeter(["ready"], { env })).toEqual({
        code: 1,
        out: "",
        err: `appmeter: not ready: ${url} is not reachable\n`,
      })
      expect((await appmeter(["ready"], { env: { PORT: "0" } })).code).toBe(2)
    },
  )

  slow("the command ready exits with 1 if the server does not answer in 2,500 ms", async () => {
    const silent = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data() {} } })
    const { code, err } = await appmeter(["ready"], { env: { PORT: String(silent.port) } })
    expect([code, err]).toEqual([1, expect.stringContaining("did not answer in 2500 ms")])
    silent.stop(true)
  })

  afterSlow(async () => {
    server.kill()
    expect(await server.exited).toBe(0)
  })
})
