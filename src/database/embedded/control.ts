import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { createConnection, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { Duplex, pipeline } from "node:stream"
import { DatabaseProblem } from "../problem.ts"

export interface Control {
  close(): void
}

const NAME = "control.sock"

/**
 * Accepts connections from other processes of the same user on a Unix socket in the directory, mode 0600. The caller
 * must hold the lock.
 */
export async function listenControl(directory: string, session: () => Duplex): Promise<Control> {
  const path = join(directory, NAME)
  rmSync(path, { force: true })
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    const end = session()
    pipeline(socket, end, socket, () => {
      end.destroy()
      socket.destroy()
    })
  })
  const [short, forget] = shortened(directory)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject)
      server.listen(join(short, NAME), resolve)
    })
    chmodSync(path, 0o600)
  } finally {
    forget()
  }
  server.unref()
  return {
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      rmSync(path, { force: true })
    },
  }
}

/** Connects to the process that has the directory open. A failure is reported by the socket's "error" event. */
export function connectControl(directory: string): Socket {
  const [short, forget] = shortened(directory)
  const socket = createConnection(join(short, NAME))
  socket.once("connect", forget)
  socket.once("close", forget)
  return socket
}

/**
 * Waits for the connection, because the driver attaches its listeners later: it would miss an earlier refusal and
 * reconnect forever.
 */
export async function controlStream(directory: string): Promise<Duplex> {
  const socket = connectControl(directory)
  const refusal = await new Promise<Error | null>((resolve) => {
    socket.once("connect", () => resolve(null))
    socket.once("error", resolve)
  })
  return refusal ? deadStream(gone(directory, refusal)) : socket
}

export function deadStream(error: Error): Duplex {
  const dead = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  setImmediate(() => dead.destroy(error))
  return dead
}

function gone(directory: string, cause: Error): DatabaseProblem {
  const { code } = cause as { code?: string }
  const why = code === "ECONNREFUSED" || code === "ENOENT" ? "has ended" : `cannot be reached: ${cause.message}`
  const problem = new DatabaseProblem(`the process that held the database in ${directory} ${why}`, { cause })
  return Object.assign(problem, { code })
}

export function controlAnswers(directory: string): Promise<boolean> {
  if (!existsSync(join(directory, NAME))) return Promise.resolve(false)
  return new Promise((resolve) => {
    const socket = connectControl(directory)
    const done = (answers: boolean) => {
      socket.destroy()
      resolve(answers)
    }
    socket.once("connect", () => done(true))
    socket.once("error", () => done(false))
  })
}

const LONGEST = process.platform === "linux" ? 107 : 103

// A socket's path must fit in 108 bytes (104 on macOS). A longer path is reached through a symbolic link in a temporary
// folder, which is needed only while binding or connecting.
function shortened(directory: string): [path: string, forget: () => void] {
  const whole = resolve(directory)
  if (Buffer.byteLength(join(whole, NAME)) <= LONGEST) return [whole, () => {}]
  const folder = mkdtempSync(join(tmpdir(), "appmeter-"))
  const link = join(folder, "d")
  symlinkSync(whole, link)
  return [link, () => rmSync(folder, { recursive: true, force: true })]
}
