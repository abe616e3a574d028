import { isRealDay } from "../../lib/time.ts"
import { type Invocation, WrongUse } from "./command.ts"

/** Returns the day in an option. Throws WrongUse if it is not a calendar day. */
export function dayGiven({ text }: Invocation, option: string): string | undefined {
  const day = text(option)
  if (day === undefined) return undefined
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || !isRealDay(day)) throw new WrongUse(`--${option} must be a day, YYYY-MM-DD`)
  return day
}
