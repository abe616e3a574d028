import { spawnSync } from "node:child_process"
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createConnection, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

const PLACES = `${process.env.PATH}:/usr/sbin`

/**
 * Returns true if this machine can run tests through PgBouncer. If not, prints the reason. PgBouncer is required where
 * all tests run (.ci/run).
 */
export function hasPooler(): boolean {
  if (!process.env.DATABASE_URL) return false
  if (process.env.CI || process.env.LONG || Bun.which("pgbouncer", { PATH: PLACES })) return true
  process.stdout.write("tests through PgBouncer are skipped: pgbouncer is not installed\n")
  return false
}

interface PoolerOptions {
  url?: string
  mode: "session" | "transaction" | "statement"
  /** Number of connections to the server. */
  size?: number
  settings?: Record<string, string>
}

/** Starts a real PgBouncer in front of the server at `url`, on a free port. Stops with `await using`. */
export async function startPooler({ url = process.env.DATABASE_URL!, mode, size = 6, settings = {} }: PoolerOptions) {
  const server = new URL(url)
  const dir = mkdtempSync(join(tmpdir(), "appmeter-pgbouncer-"))
  const port = await freePort()
  const users = `"${decodeURIComponent(server.username)}" "${decodeURIComponent(server.password)}"\n`
  const lines = {
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
    auth_type: "trust",
    auth_file: join(dir, "users"),
    pool_mode: mode,
    default_pool_size: String(size),
    max_client_conn: "200",
    ...settings,
  }
  const config = Object.entries(lines).map(([name, value]) => `${name} = ${value}`)
  const databases = `* = host=${server.hostname} port=${server.port || 5432}`
  writeFileSync(join(dir, "config"), `[databases]\n${databases}\n[pgbouncer]\n${config.join("\n")}\n`)
  writeFileSync(join(dir, "users"), users)
  const child = Bun.spawn([...asOtherUser(dir), Bun.which("pgbouncer", { PATH: PLACES })!, "-q", join(dir, "config")], {
    stdout: "ignore",
    stderr: "ignore",
  })
  await accepts(port)
  server.port = String(port)
  server.hostname = "127.0.0.1"
  server.password = ""
  const stop = async () => {
    child.kill("SIGTERM")
    await child.exited
    rmSync(dir, { recursive: true, force: true })
  }
  return { url: server.href, [Symbol.asyncDispose]: stop }
}

/**
 * Returns the prefix that runs PgBouncer as another user, because it refuses to run as root. Gives that user the files
 * that PgBouncer reads.
 */
function asOtherUser(dir: string): string[] {
  if (process.getuid?.() !== 0) return []
  const id = (flag: string) => Number(spawnSync("id", [flag, "postgres"]).stdout.toString())
  for (const path of [dir, join(dir, "config"), join(dir, "users")]) chownSync(path, id("-u"), id("-g"))
  chmodSync(dir, 0o700)
  return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function accepts(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = createConnection(port, "127.0.0.1")
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
      socket.once("connect", () => socket.destroy())
    })
    if (isOpen) return
    await Bun.sleep(25)
  }
  throw new Error("PgBouncer does not listen")
}
