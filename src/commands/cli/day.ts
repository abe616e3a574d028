import { isRealDay } from "../../lib/time.ts"
import { type Invocation, WrongUse } from "./command.ts"

/** The value of an option that names a day. Throws WrongUse for what is no day of the calendar. */
export function dayGiven({ text }: Invocation, option: string): string | undefined {
  const day = text(option)
  if (day === undefined) return undefined
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || !isRealDay(day)) throw new WrongUse(`--${option} must be a day, YYYY-MM-DD`)
  return day
}
