import type { Log } from "../../log.ts"
import { type Html, html } from "../../pages/html.ts"
import { layout } from "../../pages/layout.ts"
import { BYTE_ORDER_MARK, type CsvCell, csvRecord } from "../../vocabulary/csv.ts"
import type { LinkAnswer, LinkKind, LinkParts } from "../link-kind.ts"
import { exportedRows } from "./rows.ts"
import { findExport, readPart, type StoredExport } from "./store.ts"

/** Part by part: nothing of the database is held in between, and memory does not grow with the rows. */
export const exportFiles: LinkKind = {
  folder: "exports",
  tokens: /^[^/]+$/,
  methods: ["GET", "HEAD"],
  headers: {},
  async open({ parts, token, requestId }) {
    const found = await parts.gate.run(() => findExport(parts.sql, token))
    if (found === null) return page(404, "No such file", UNKNOWN)
    if (found === "expired") return page(410, "This link has expired", EXPIRED)
    return { status: 200, headers: fileHeaders(found), body: streamOf(readTexts(parts, found), parts.log, requestId) }
  },
  refused: ({ code }) => (code === "unavailable" ? page(503, "Not available now", AWAY) : undefined),
}

const UNKNOWN = html`<p>There is no file behind this link. Check that the whole of it was copied; a week after the file was
made, its link stops working.</p>`
const AWAY = html`<p>Try again in a moment: the database does not answer.</p>`
const EXPIRED = html`<p>A link to an export works for 7 days. Whoever made this one can make another.</p>`

const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"

function page(status: number, title: string, text: Html): LinkAnswer {
  const body = layout(title, "A file that was taken out of a workspace.", text)
  return { status, headers: { "content-security-policy": PAGE_POLICY }, body }
}

const TYPES = { csv: "text/csv; charset=utf-8; header=present", json: "application/json; charset=utf-8" }

function fileHeaders({ appId, dataset, country, platform, from, to, format }: StoredExport): Record<string, string> {
  const named = [appId, dataset, country, platform, from, to === from ? null : to].filter((part) => part !== null)
  // an app's id is ours; whatever it holds, the header stays one
  const name = named.join("-").replaceAll(/[^\w-]/g, "_")
  return {
    "content-type": TYPES[format],
    "content-disposition": `attachment; filename="${name}.${format}"`,
    "content-security-policy": "default-src 'none'; sandbox",
  }
}

/** The file as text, a part at a time. Throws where a part is not there any more: the file must not end early in silence. */
async function* readTexts({ sql, gate }: LinkParts, stored: StoredExport): AsyncGenerator<string> {
  const { open, rows: written, close } = stored.format === "csv" ? csvFile(stored) : jsonFile(stored)
  yield open
  let count = 0
  for (let place = 0; count < stored.rows; place++) {
    const lines = await gate.run(() => readPart(sql, stored.id, place))
    if (lines === null) throw new Error(`export ${stored.id} has no part ${place}`)
    const rows = [...exportedRows(lines, stored)]
    yield written(rows, count)
    count += rows.length
  }
  if (close !== "") yield close
}

interface FileFormat {
  open: string
  /** Rows, the first of which is number `at` of the file. */
  rows(rows: readonly CsvCell[][], at: number): string
  close: string
}

function csvFile({ columns }: StoredExport): FileFormat {
  return { open: BYTE_ORDER_MARK + csvRecord(columns), rows: (rows) => rows.map(csvRecord).join(""), close: "" }
}

/** One object, with a row on each line. */
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

/** Asks for the next text only when the reader has room for it; whoever goes away ends the asking. */
function streamOf(texts: AsyncGenerator<string>, log: Log, requestId: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await texts.next()
          if (done) controller.close()
          else controller.enqueue(encoder.encode(value))
        } catch (error) {
          log("warn", "export_broke_off", { requestId, reason: (error as Error).message })
          controller.error(new Error("the export broke off"))
        }
      },
      async cancel() {
        await texts.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}
