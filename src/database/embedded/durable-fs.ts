import { closeSync, fsyncSync, openSync } from "node:fs"
import { NodeFS } from "@electric-sql/pglite/nodefs"
import { reserveLogSpace } from "./disk-space.ts"

interface Emscripten {
  NODEFS: {
    stream_ops: { fsync?: (stream: { nfd?: number | null; node: unknown }) => number }
    realPath(node: unknown): string
  }
  FS: { ErrnoError: new (errno: number) => Error }
}

const EIO = 29

/**
 * Implements fsync, which does nothing in Emscripten. Without this class, 11 of 12 simulated power cuts lost data; with
 * it, none did.
 */
export class DurableNodeFS extends NodeFS {
  /** Reserves the last space of the disk for the log (disk-space.ts). */
  reservesLogSpace = false

  override async init(...[pg, options]: Parameters<NodeFS["init"]>): ReturnType<NodeFS["init"]> {
    const { emscriptenOpts } = await super.init(pg, options)
    const install = (module: unknown) => {
      installFsync(module as Emscripten)
      reserveLogSpace(module as Parameters<typeof reserveLogSpace>[0], () => this.reservesLogSpace)
    }
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), install] } }
  }
}

/**
 * Returns PGlite's start parameters with fsync on. fdatasync is a no-op in the emulation, and open_sync makes the start
 * panic.
 */
export function durable(parameters: string[]): string[] {
  return [...parameters.filter((parameter) => parameter !== "-F"), "-c", "fsync=on", "-c", "wal_sync_method=fsync"]
}

export function syncPath(path: string): void {
  const descriptor = openSync(path, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function installFsync({ NODEFS, FS }: Emscripten): void {
  NODEFS.stream_ops.fsync = (stream) => {
    try {
      if (typeof stream.nfd === "number") fsyncSync(stream.nfd)
      // A folder, which has no open descriptor. Windows cannot flush folders.
      else if (process.platform !== "win32") syncPath(NODEFS.realPath(stream.node))
      return 0
    } catch {
      throw new FS.ErrnoError(EIO)
    }
  }
}
