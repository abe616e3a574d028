const CLOCK = new Intl.DateTimeFormat("en-CA", {
  timeZone: "America/Los_Angeles",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  hourCycle: "h23",
})

/** Days of reports are in this time zone. */
export const REPORT_ZONE = "America/Los_Angeles"

/** Returns the current day in the reports' time zone, "YYYY-MM-DD". */
export function pacificDay(at: Date): string {
  return partsOf(at).slice(0, 10)
}

/** Returns five in the morning in the reports' time zone, when reports of the previous day begin to appear. */
export function fiveOnPacificDay(day: string): Date {
  // 13:00 UTC in winter, 12:00 UTC in summer
  const summer = new Date(`${day}T12:00:00Z`)
  return partsOf(summer).endsWith("05") ? summer : new Date(`${day}T13:00:00Z`)
}

function partsOf(at: Date): string {
  const parts = new Map(CLOCK.formatToParts(at).map(({ type, value }) => [type, value]))
  return `${parts.get("year")}-${parts.get("month")}-${parts.get("day")}T${parts.get("hour")}`
}
