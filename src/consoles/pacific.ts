const CLOCK = new Intl.DateTimeFormat("en-CA", {
  timeZone: "America/Los_Angeles",
  ...{ year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", hourCycle: "h23" },
})

/** Reports are of days of this zone. */
export const REPORT_ZONE = "America/Los_Angeles"

/** The day it is where the reports are made, "YYYY-MM-DD". */
export function pacificDay(at: Date): string {
  return partsOf(at).slice(0, 10)
}

/** Five in the morning there, when reports of the day before begin to stand. */
export function fiveOnPacificDay(day: string): Date {
  // 13:00 UTC in winter, 12:00 in summer
  const summer = new Date(`${day}T12:00:00Z`)
  return partsOf(summer).endsWith("05") ? summer : new Date(`${day}T13:00:00Z`)
}

function partsOf(at: Date): string {
  const parts = new Map(CLOCK.formatToParts(at).map(({ type, value }) => [type, value]))
  return `${parts.get("year")}-${parts.get("month")}-${parts.get("day")}T${parts.get("hour")}`
}
