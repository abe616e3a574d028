import { csvRecord } from "../../lib/csv.ts"
import { type Chart, daysOf } from "../charts/chart.ts"
import { chartFigure } from "../charts/figure.ts"
import type { Html } from "../html.ts"
import { sourceName } from "../source-names.ts"
import { address, type Page, type PageContext } from "./context.ts"

/**
 * Shows a chart with a link to its CSV. The page must list the chart in `charts`, because the CSV is made from that
 * list.
 */
export function chartPart(context: PageContext, chart: Chart): Html {
  const query = new URLSearchParams(context.query)
  query.set("csv", chart.id)
  return chartFigure({ ...chart, csv: `${address(context.path)}?${query}` })
}

/**
 * Returns the content of a chart as CSV, with a row per day and line. If a line has notes, there is a column for them.
 */
export function chartFile(chart: Chart): NonNullable<Page["file"]> {
  const hasNotes = chart.lines.some(({ notes }) => notes !== undefined)
  const records = [csvRecord([...COLUMNS, ...(hasNotes ? ["note"] : [])])]
  const none = chart.unit?.none ?? "absent"
  for (const { day, cells, events } of daysOf(chart))
    for (const [at, { value, source, note }] of cells.entries()) {
      const state = value === undefined ? "not measured" : value === null ? none : "measured"
      const by = source === null ? null : sourceName(source)
      const cell = [day, chart.lines[at]!.name, state, value ?? null, by, events || null]
      records.push(csvRecord(hasNotes ? [...cell, note] : cell))
    }
  return { name: `${chart.id}-${chart.from}-${chart.to}.csv`, csv: records.join("") }
}

const COLUMNS = ["day", "line", "state", "value", "source", "events"]
