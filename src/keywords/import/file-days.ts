/** The order of day and month in dates such as 01/02/2025. */
export type DayOrder = "dmy" | "mdy"

const ISO = /^(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})(?:[T ].*)?$/
const NUMERIC = /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})$/
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const DAY_MONTH = /^(\d{1,2})[ -]([a-z]{3,9})\.?,?[ -](\d{4})$/i
const MONTH_DAY = /^([a-z]{3,9})\.? (\d{1,2}),? (\d{4})$/i

/** Returns the day of a date as YYYY-MM-DD. Null if the text is not a date. A time of day is ignored. */
export function parseDay(text: string, order: DayOrder): string | null {
  const trimmed = text.trim()
  const [, year, month, day] = ISO.exec(trimmed) ?? []
  if (year) return dayOf(year, month!, day!)
  const [, first, second, numericYear] = NUMERIC.exec(trimmed) ?? []
  if (numericYear) return order === "dmy" ? dayOf(numericYear, second!, first!) : dayOf(numericYear, first!, second!)
  const [, beforeMonth, monthAfter, yearAfter] = DAY_MONTH.exec(trimmed) ?? []
  if (yearAfter) return dayOf(yearAfter, monthNumber(monthAfter!), beforeMonth!)
  const [, monthBefore, afterMonth, lastYear] = MONTH_DAY.exec(trimmed) ?? []
  return lastYear ? dayOf(lastYear, monthNumber(monthBefore!), afterMonth!) : null
}

/**
 * Returns the order of day and month that fits all numeric dates of a file: a number above 12 is a day. Returns "dmy"
 * if no date needs an order, and undefined if both orders fit.
 */
export function dayOrderOf(dates: readonly string[]): DayOrder | undefined {
  const numeric = dates.flatMap((date) => {
    const [, first, second] = NUMERIC.exec(date.trim()) ?? []
    return first === undefined ? [] : [[Number(first), Number(second)] as const]
  })
  if (numeric.length === 0 || numeric.some(([first]) => first > 12)) return "dmy"
  return numeric.some(([, second]) => second > 12) ? "mdy" : undefined
}

function monthNumber(name: string): string {
  return String(MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1)
}

function dayOf(year: string, month: string, day: string): string | null {
  const written = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`
  const date = new Date(`${written}T00:00:00Z`)
  return Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== written ? null : written
}
