import { fstatSync, statfsSync } from "node:fs"

/** Space reserved for the log: three segments. PostgreSQL ends when it cannot write the log. */
const LOG_RESERVE_BYTES = 48 * 2 ** 20
/** Bytes written between two checks of the disk. */
const LOOK_BYTES = 2 ** 20
const ENOSPC = 51

/** Matches files of tables, indexes and sorts, but not the neighbouring files that are needed to open the database. */
const GROWING = /\/base\/(\d+\/t?\d|pgsql_tmp)/

interface NodeStream {
  nfd?: number | null
  node: unknown
  /** The size of the file of a table, an index or a sort. Infinity for other files, which are not checked. */
  end?: number
}

type Write = (stream: NodeStream, buffer: unknown, offset: number, length: number, position: number) => number

interface Emscripten {
  NODEFS: { stream_ops: { write: Write }; realPath(node: unknown): string }
  FS: { ErrnoError: new (errno: number) => Error }
}

/**
 * Reserves the last space of the disk for the log. A write that would grow a table, index or sort fails with error
 * 53100 and is rolled back, while the log, whose writer must not fail, still has space. The disk guard alone is not
 * enough: it checks every other second, and one large write can fill the disk in between.
 */
export function reserveLogSpace({ NODEFS, FS }: Emscripten, isOn: () => boolean): void {
  const { write } = NODEFS.stream_ops
  let unseen = LOOK_BYTES
  const grow = (stream: NodeStream, bytes: number) => {
    unseen += bytes
    if (unseen < LOOK_BYTES || !isOn()) return
    if (freeBytes(NODEFS.realPath(stream.node)) < LOG_RESERVE_BYTES) throw new FS.ErrnoError(ENOSPC)
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
