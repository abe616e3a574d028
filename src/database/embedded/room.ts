import { fstatSync, statfsSync } from "node:fs"

/** What is left for the log: three of its segments, without which PostgreSQL ends at once. */
const KEPT_FOR_LOG = 48 * 2 ** 20
/** Between two looks at the disk. */
const LOOK_BYTES = 2 ** 20
const ENOSPC = 51

/** Files of tables, indexes and sorts; not those beside them without which nothing opens. */
const GROWING = /\/base\/(\d+\/t?\d|pgsql_tmp)/

interface NodeStream {
  nfd?: number | null
  node: unknown
  /** How far it is known to reach: of a table's, an index's or a sort's file; others are not looked at. */
  end?: number
}

type Write = (stream: NodeStream, buffer: unknown, offset: number, length: number, position: number) => number

interface Emscripten {
  NODEFS: { stream_ops: { write: Write }; realPath(node: unknown): string }
  FS: { ErrnoError: new (errno: number) => Error }
}

/**
 * Tables, indexes and sorts do not grow into the last of the disk: that fails the statement alone, which is taken back and says
 * that there is no room (53100), while the log, whose writer may not fail, still has some. The guard of the disk looks
 * every other second, within which one large write can fill it.
 */
export function keepRoomForLog({ NODEFS, FS }: Emscripten, isOn: () => boolean): void {
  const { write } = NODEFS.stream_ops
  let unseen = LOOK_BYTES
  const grow = (stream: NodeStream, bytes: number) => {
    unseen += bytes
    if (unseen < LOOK_BYTES || !isOn()) return
    if (freeBytes(NODEFS.realPath(stream.node)) < KEPT_FOR_LOG) throw new FS.ErrnoError(ENOSPC)
    unseen = 0
  }
  NODEFS.stream_ops.write = (stream, buffer, offset, length, position) => {
    stream.end ??= GROWING.test(NODEFS.realPath(stream.node)) ? 0 : Number.POSITIVE_INFINITY
    const end = position + length
    if (end > stream.end && typeof stream.nfd === "number") {
      const { size } = fstatSync(stream.nfd)
      if (end > size) grow(stream, end - size)
      stream.end = Math.max(end, size)
    }
    return write(stream, buffer, offset, length, position)
  }
}

export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}
