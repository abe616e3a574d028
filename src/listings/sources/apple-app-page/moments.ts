/**
 * Parses the page's timestamps: ISO 8601 with or without a time, or JavaScript's own format, "Tue Aug 11 2026 08:00:00
 * GMT+0000 (Coordinated Universal Time)" (both are recorded in version histories). Undefined for anything else.
 */
export function moment(value: unknown): Date | undefined {
  if (typeof value !== "string") return undefined
  const parts = ISO.exec(value)?.groups ?? SPELT.exec(value)?.groups
  if (!parts) return undefined
  const { year, month = "", day, hour = "0", minute = "0", second = "0", zone = "Z" } = parts
  const monthIndex = /^\d/.test(month) ? Number(month) - 1 : MONTHS.indexOf(month)
  const midnight = new Date(Date.UTC(Number(year), monthIndex, Number(day)))
  // Date would turn 30 February into 2 March.
  if (monthIndex < 0 || midnight.getUTCMonth() !== monthIndex || midnight.getUTCDate() !== Number(day)) return undefined
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const seconds = Number(hour) * 3_600 + Number(minute) * 60 + Number(second) - offsetSeconds(zone)
  return new Date(midnight.getTime() + seconds * 1_000)
}

const TIME = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`
const ISO = new RegExp(
  String.raw`^(?<year>20\d\d)-(?<month>\d\d)-(?<day>\d\d)(?:T${TIME}(?:\.\d{1,9})?(?<zone>Z|[+-]\d\d:?\d\d))?$`,
)
const SPELT = new RegExp(
  String.raw`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>\d\d) (?<year>20\d\d) ${TIME} ` +
    String.raw`GMT(?<zone>[+-]\d{4})(?: \([^()]*\))?$`,
)
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

/** Returns the offset of a time zone from UTC, in seconds. */
function offsetSeconds(zone: string): number {
  if (zone === "Z") return 0
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))]
  return (zone.startsWith("-") ? -1 : 1) * (hours * 3_600 + minutes * 60)
}
