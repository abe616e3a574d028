import { mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { scratch } from "./child.ts"
import { printed } from "./printed.ts"

export const PROXIES = ["caddy", "haproxy", "nginx"] as const
export type ProxyProgram = (typeof PROXIES)[number]

// Debian installs some proxies outside the PATH of ordinary users
const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`

export function hasProgram(program: string): boolean {
  const isInstalled = Bun.which(program, { PATH }) !== null
  if (!isInstalled) console.log(`skipped: ${program} is not installed`)
  return isInstalled
}

const running = new Set<Bun.Subprocess>()

/** Stops the proxies that a failed test left running. */
export async function stopProxies(): Promise<void> {
  for (const child of running) child.kill()
  await Promise.all([...running].map(({ exited }) => exited))
}

/** Runs the proxy's own check of a printed file. Returns its exit code and its messages. */
export async function checkConfig(proxy: ProxyProgram, upstreams: readonly string[]) {
  const config = await writeConfig(proxy, upstreams, undefined)
  const commands = {
    caddy: ["caddy", "validate", "--adapter", "caddyfile", "--config", config.main],
    haproxy: ["haproxy", "-c", "-f", config.main],
    nginx: ["nginx", "-t", "-e", config.log, "-c", config.main],
  }
  const { exitCode, stderr } = Bun.spawnSync(commands[proxy], { env: environment() })
  return { exitCode, messages: stderr.toString() }
}

/** Starts the proxy with a printed file on a free loopback port, without TLS. */
export async function startProxy(proxy: ProxyProgram, upstreams: readonly string[]) {
  const port = await freePort()
  const config = await writeConfig(proxy, upstreams, port)
  const commands = {
    caddy: ["caddy", "run", "--adapter", "caddyfile", "--config", config.main],
    haproxy: ["haproxy", "-db", "-f", config.main],
    nginx: ["nginx", "-e", config.log, "-c", config.main],
  }
  const child = Bun.spawn(commands[proxy], { env: environment(), stdout: "ignore", stderr: "ignore" })
  running.add(child)
  const url = `http://127.0.0.1:${port}`
  const deadline = Date.now() + 20_000
  while (!(await fetch(`${url}/metrics`).catch(() => undefined))) {
    if (Date.now() > deadline || child.exitCode !== null) throw new Error(`${proxy} does not listen`)
    await Bun.sleep(50)
  }
  return {
    url,
    file: config.file,
    reload: () => child.kill("SIGHUP"),
    async stop() {
      child.kill()
      await child.exited
      running.delete(child)
    },
  }
}

const environment = () => ({ PATH, HOME: scratch() })

/**
 * Writes the printed file. With `port` it listens on loopback without TLS, otherwise it is unchanged except for a
 * certificate.
 */
async function writeConfig(proxy: ProxyProgram, upstreams: readonly string[], port: number | undefined) {
  const folder = scratch()
  const text = await printed(proxy, { upstream: [...upstreams] })
  const file = join(folder, proxy)
  writeFileSync(file, port === undefined ? withCertificate(text, folder) : listeningAt(text, port))
  const main = proxy === "nginx" ? wrapServerBlock(file, folder) : file
  return { file, main, log: join(folder, "error.log") }
}

function listeningAt(text: string, port: number): string {
  return text
    .replace("listen 443 ssl;", `listen 127.0.0.1:${port};`)
    .replace(/^\tssl_certificate.*\n/gm, "")
    .replace(/bind :443 .*/, `bind 127.0.0.1:${port}`)
    .replace(/^ranks\.example\.com \{/m, `{\n\tadmin off\n\tauto_https off\n}\nhttp://:${port} {\n\tbind 127.0.0.1`)
}

function withCertificate(text: string, folder: string): string {
  if (!text.includes("/etc/ssl/")) return text
  const key = join(folder, "privkey.pem")
  const chain = join(folder, "fullchain.pem")
  Bun.spawnSync(`openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -days 1 -keyout ${key} -out ${chain}`.split(" "))
  Bun.spawnSync(["sh", "-c", `cat ${chain} ${key} > ${join(folder, "haproxy.pem")}`])
  return text.replaceAll("/etc/ssl/ranks.example.com", folder)
}

/** Writes a file around a server block, with every path inside `folder`, and returns its path. */
function wrapServerBlock(block: string, folder: string): string {
  const temporary = join(folder, "temporary")
  mkdirSync(temporary)
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${temporary};`)
  const file = join(folder, "main")
  const main = `daemon off;\npid ${folder}/pid;\n${process.getuid?.() === 0 ? "user root;\n" : ""}events {}\n`
  writeFileSync(file, `${main}http {\naccess_log off;\n${paths.join("\n")}\ninclude ${block};\n}\n`)
  return file
}

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    }),
  )
}
