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

/** Lets other processes of the same user in: a Unix socket in the directory, mode 0600. Call it with the lock held. */
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

/** A connection to the process that holds the directory. It fails as any socket does, through its "error" event. */
export function connectControl(directory: string): Socket {
  const [short, forget] = shortened(directory)
  const socket = createConnection(join(short, NAME))
  socket.once("connect", forget)
  socket.once("close", forget)
  return socket
}

/**
 * The driver listens only after it was given the stream: an earlier refusal would be lost, and it would connect for
 * ever.
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

// A socket's path must fit into 108 bytes (104 on macOS); a longer one is reached through a link in a folder of our
// own, which only the moment of binding or connecting needs.
function shortened(directory: string): [path: string, forget: () => void] {
  const whole = resolve(directory)
  if (Buffer.byteLength(join(whole, NAME)) <= LONGEST) return [whole, () => {}]
  const folder = mkdtempSync(join(tmpdir(), "appmeter-"))
  const link = join(folder, "d")
  symlinkSync(whole, link)
  return [link, () => rmSync(folder, { recursive: true, force: true })]
}
