import { platformText } from "./platform-text.ts"
import type { AccountRow } from "./register.ts"

/** Lists failed requests to an account with their reason and next attempt, and incomplete readings. */
export function troubleLines(troubles: AccountRow["troubles"]): string[] {
  // not a table, because a table cuts its cells and reasons are long
  const printable = (text: string) => platformText(text, MAX_TEXT)
  return troubles.map(({ what, why, isFailed, nextAt }) => {
    const again = nextAt === null ? "" : `; next try ${nextAt.slice(0, 10)} ${nextAt.slice(11, 16)}Z`
    const named = `${printable(what)}: ${printable(why)}`
    return isFailed ? `not read: ${named}${again}` : `read partly: ${named}`
  })
}

const MAX_TEXT = 1_000
