import { BYTE_ORDER_MARK, type CsvCell, csvRecord } from "../../lib/csv.ts"
import type { Log } from "../../lib/log.ts"
import { type Html, html } from "../../ui/html.ts"
import { layout, pagePolicy } from "../../ui/layout.ts"
import type { LinkAnswer, LinkKind, LinkParts } from "../link-kind.ts"
import { createDownloads } from "./downloads.ts"
import { exportedRows } from "./rows.ts"
import { findExport, readPart, type StoredExport } from "./store.ts"

/**
 * Streams export files at the reader's speed. The memory in use does not depend on the number of rows, and grows only
 * slightly with the number of readers.
 */
export function createExportFiles(idleMs = IDLE_MS): LinkKind {
  const downloads = createDownloads()
  return {
    path: "/exports/:token",
    methods: ["GET", "HEAD"],
    headers: {},
    async open({ parts, request, token, requestId, address }) {
      const found = await parts.gate.run(() => findExport(parts.sql, token))
      if (found === null) return page(404, "No such file", UNKNOWN)
      if (found === "expired") return page(410, "This link has expired", EXPIRED)
      const headers = fileHeaders(found)
      if (request.method === "HEAD") return { status: 200, headers, body: new ReadableStream() }
      const end = downloads.begin(found.id, address)
      if (!end) return { ...page(429, "Too many downloads at once", BUSY), headers: { ...PAGE_HEADERS, ...WAIT } }
      const download = { log: parts.log, requestId, idleMs, end }
      return { status: 200, headers, body: streamOf(readTexts(parts, found), download) }
    },
    refused: ({ code }) => (code === "unavailable" ? page(503, "Not available now", AWAY) : undefined),
  }
}

const UNKNOWN = html`<p>There is no file behind this link. Check that the whole of it was copied; a week after the file
was made, its link stops working.</p>`
const AWAY = html`<p>Try again in a moment: the database does not answer.</p>`
const BUSY = html`<p>Too many downloads are under way, of this file, from your address or in all. Try again in half a
minute.</p>`
const WAIT = { "retry-after": "30" }
const EXPIRED = html`<p>A link to an export works for 7 days. Whoever made this one can make another.</p>`

const PAGE_HEADERS = { "content-security-policy": pagePolicy() }

function page(status: number, title: string, text: Html): LinkAnswer {
  const body = layout(title, "A file exported from a workspace.", text)
  return { status, headers: PAGE_HEADERS, body }
}

const TYPES = { csv: "text/csv; charset=utf-8; header=present", json: "application/json; charset=utf-8" }

function fileHeaders({ appId, dataset, country, platform, from, to, format }: StoredExport): Record<string, string> {
  const named = [appId, dataset, country, platform, from, to === from ? null : to].filter((part) => part !== null)
  // appId contains only these characters today; the replacement keeps the header intact even if that changes
  const name = named.join("-").replaceAll(/[^\w-]/g, "_")
  return {
    "content-type": TYPES[format],
    "content-disposition": `attachment; filename="${name}.${format}"`,
    "content-security-policy": "default-src 'none'; sandbox",
  }
}

/**
 * Yields the file as text, piece by piece. Throws if a part is missing, so that a truncated file does not look
 * complete.
 */
async function* readTexts({ sql, gate }: LinkParts, stored: StoredExport): AsyncGenerator<string> {
  const { open, rows: written, close } = stored.format === "csv" ? csvFile(stored) : jsonFile(stored)
  yield open
  let count = 0
  for (let place = 0; count < stored.rows; place++) {
    const lines = await gate.run(() => readPart(sql, stored.id, place))
    if (lines === null) throw new Error(`export ${stored.id} has no part ${place}`)
    const rows = exportedRows(lines, stored)
    for (let piece = takeRows(rows); piece.length > 0; piece = takeRows(rows)) {
      yield written(piece, count)
      count += piece.length
    }
  }
  if (close !== "") yield close
}

interface FileFormat {
  open: string
  /** Formats rows. `at` is the index of the first of these rows in the file. */
  rows(rows: readonly CsvCell[][], at: number): string
  close: string
}

function csvFile({ columns }: StoredExport): FileFormat {
  return { open: BYTE_ORDER_MARK + csvRecord(columns), rows: (rows) => rows.map(csvRecord).join(""), close: "" }
}

/** One JSON object, in which each row is on a line of its own. */
function jsonFile({ appId, dataset, country, platform, from, to, frozenAt, columns, rows }: StoredExport): FileFormat {
  const head = { appId, dataset, country, platform, from, to, frozenAt, rowCount: rows }
  const written = (row: readonly CsvCell[]) =>
    JSON.stringify(Object.fromEntries(columns.map((column, place) => [column, row[place]])))
  return {
    open: `${JSON.stringify(head).slice(0, -1)},"rows":[`,
    rows: (some, at) => some.map((row, place) => `${at + place === 0 ? "" : ","}\n${written(row)}`).join(""),
    close: "\n]}\n",
  }
}

/** Number of rows per piece. For a slow reader, only one piece and the part that contains it are in memory. */
const ROWS_A_PIECE = 50

function takeRows(rows: Iterator<CsvCell[]>): CsvCell[][] {
  const taken: CsvCell[][] = []
  while (taken.length < ROWS_A_PIECE) {
    const { done, value } = rows.next()
    if (done) break
    taken.push(value)
  }
  return taken
}

/** A download ends if its reader accepts no data for this long. */
const IDLE_MS = 30_000

interface DownloadParts {
  log: Log
  requestId: string
  idleMs: number
  end: () => void
}

/**
 * Reads the next text only when the reader has room for it. Ends when the reader disconnects or is idle for `idleMs`.
 */
function streamOf(
  texts: AsyncGenerator<string>,
  { log, requestId, idleMs, end }: DownloadParts,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let idle: ReturnType<typeof setTimeout> | undefined
  const close = async () => {
    clearTimeout(idle)
    end()
    await texts.return(undefined)
  }
  const breakOff = (controller: ReadableStreamDefaultController<Uint8Array>, reason: string) => {
    log("warn", "export_interrupted", { requestId, reason })
    controller.error(new Error("the export broke off"))
    return close()
  }
  const waitForReader = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    clearTimeout(idle)
    idle = setTimeout(() => void breakOff(controller, `the reader accepted no data for ${idleMs} ms`), idleMs)
  }
  return new ReadableStream<Uint8Array>(
    {
      start: waitForReader,
      async pull(controller) {
        clearTimeout(idle)
        try {
          const { done, value } = await texts.next()
          if (done) {
            controller.close()
            await close()
          } else {
            controller.enqueue(encoder.encode(value))
            waitForReader(controller)
          }
        } catch (error) {
          await breakOff(controller, (error as Error).message)
        }
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  )
}
