import { type Invocation, WrongUse } from "./command.ts"

/** The value of an option that names a day. Throws WrongUse for what is no day of the calendar. */
export function dayGiven({ text }: Invocation, option: string): string | undefined {
  const day = text(option)
  if (day === undefined) return undefined
  const at = /^\d{4}-\d\d-\d\d$/.test(day) ? new Date(`${day}T00:00:00Z`) : null
  if (!at || Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== day)
    throw new WrongUse(`--${option} must be a day, YYYY-MM-DD`)
  return day
}
