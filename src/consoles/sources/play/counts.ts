import { cutText } from "../../../lib/text.ts"
import type { PlayCountReport } from "../../../lib/upstreams.ts"
import { checkedRow, type PutAside } from "../../../measuring/parsing/put-aside.ts"
import { ReadFailure } from "../../../measuring/source.ts"
import { PlayCountRow } from "../../kinds/play-shape.ts"
import { MAX_NAME } from "../../kinds/reports-shape.ts"
import { countryIn, dayIn, type PlayRow, playTable } from "./table.ts"

type Measure = Exclude<keyof PlayCountRow, "country" | "from" | "term">

/** The column title of each measure in Google Play Console's files. */
type Titles = Partial<Record<Measure, string>>

interface Columns {
  country?: string
  from?: string
  term?: string
  counts: Titles
  decimals?: Titles
  needed: readonly Measure[]
}

const INSTALLS: Titles = {
  userInstalls: "Daily User Installs",
  userUninstalls: "Daily User Uninstalls",
  totalUserInstalls: "Total User Installs",
  deviceInstalls: "Daily Device Installs",
  deviceUninstalls: "Daily Device Uninstalls",
  deviceUpgrades: "Daily Device Upgrades",
  activeDevices: "Active Device Installs",
  installEvents: "Install events",
  updateEvents: "Update events",
  uninstallEvents: "Uninstall events",
}
const STORE: Titles = { visitors: "Store listing visitors", acquisitions: "Store listing acquisitions" }
const RATINGS: Titles = { ratingOfDay: "Daily Average Rating", rating: "Total Average Rating" }
const CRASHES: Titles = { crashes: "Daily Crashes", freezes: "Daily ANRs" }

const visited = { counts: STORE, needed: ["visitors", "acquisitions"] } as const
const COLUMNS: Record<PlayCountReport, Columns> = {
  // Old files have no columns for events and active devices.
  play_installs: { counts: INSTALLS, needed: ["userInstalls"] },
  play_installs_country: { country: "Country", counts: INSTALLS, needed: ["userInstalls"] },
  play_store_country: { country: "Country / Region", ...visited },
  play_store_sources: { from: "Traffic source", term: "Search term", ...visited },
  play_ratings: { counts: {}, decimals: RATINGS, needed: ["ratingOfDay", "rating"] },
  play_ratings_country: { country: "Country", counts: {}, decimals: RATINGS, needed: ["ratingOfDay", "rating"] },
  play_crashes: { counts: CRASHES, needed: ["crashes"] },
}

/** The report, app and month of a file. */
interface PlayCountFile {
  report: PlayCountReport
  app: string
  /** "2026-10" */
  month: string
}

const countRow = checkedRow<PlayCountRow>(PlayCountRow)

/**
 * Parses a file. Returns the days for which it has rows, oldest first: a day without a row is unknown, not zero. Rows
 * of another app or month are skipped. Throws ReadFailure when a needed column is missing.
 */
export async function playCountDays(
  text: string,
  { report, app, month }: PlayCountFile,
  aside: PutAside,
): Promise<Map<string, PlayCountRow[]>> {
  const columns = COLUMNS[report]
  const titles = { ...columns.counts, ...columns.decimals }
  const where = [columns.country, columns.from].filter((title) => title !== undefined)
  const needed = ["Date", "Package Name", ...where, ...columns.needed.map((measure) => titles[measure]!)]
  const days = new Map<string, PlayCountRow[]>()
  for await (const row of playTable(text, needed, aside))
    aside.row(row.name, () => {
      const named = row.text("Package Name")
      if (named !== app) throw new ReadFailure("mismatched", `it is about another app than ${app}`)
      const day = dayIn(row.text("Date"))
      if (!day.startsWith(month)) throw new ReadFailure("mismatched", `it is in another month than ${month}`)
      const read = countRow(rowOf(row, columns))
      const rows = days.get(day) ?? []
      days.set(day, rows)
      rows.push(read)
    })
  aside.assertSome([...days])
  return new Map([...days].sort())
}

function rowOf(row: PlayRow, { country, from, term, counts, decimals = {} }: Columns): PlayCountRow {
  const place = country === undefined ? undefined : countryIn(row.text(country))
  const searched = term === undefined ? "" : row.text(term)
  return {
    ...(place !== undefined && { country: place }),
    ...(from !== undefined && { from: cutText(row.text(from) || "Unknown", MAX_NAME) }),
    ...(searched !== "" && { term: cutText(searched, MAX_NAME) }),
    ...measured(counts, row.count),
    ...measured(decimals, row.decimal),
  }
}

/** Returns those measures for which the row has a value. Counts and decimals belong to different measures. */
function measured(titles: Titles, read: (title: string) => string | number | undefined): Partial<PlayCountRow> {
  const found = Object.entries(titles).flatMap(([name, title]) => {
    const value = read(title)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(found)
}
