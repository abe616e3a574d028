import { platformText } from "./platform-text.ts"
import type { AccountRow } from "./register.ts"

/** Returns a line for each failed request, with its reason and next attempt, and for each reading with skipped rows. */
export function troubleLines(troubles: AccountRow["troubles"]): string[] {
  // No table is used, because a table cuts its cells and the reasons are long.
  const printable = (text: string) => platformText(text, MAX_TEXT)
  return troubles.map(({ what, why, isFailed, nextAt }) => {
    const again = nextAt === null ? "" : `; next try ${nextAt.slice(0, 10)} ${nextAt.slice(11, 16)}Z`
    const named = `${printable(what)}: ${printable(why)}`
    return isFailed ? `not read: ${named}${again}` : `read partly: ${named}`
  })
}

const MAX_TEXT = 1_000
