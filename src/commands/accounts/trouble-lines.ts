import { platformText } from "../../consoles/platform-text.ts"
import type { AccountRow } from "../../consoles/register.ts"

/** Which questions to an account failed, why, and when they are asked again; and what was read only in part. */
export function troubleLines(troubles: AccountRow["troubles"]): string[] {
  // no table: its cells are cut, and reasons are long
  const printable = (text: string) => platformText(text, MAX_TEXT)
  return troubles.map(({ what, why, isFailed, nextAt }) => {
    const again = nextAt === null ? "" : `; next try ${nextAt.slice(0, 10)} ${nextAt.slice(11, 16)}Z`
    const named = `${printable(what)}: ${printable(why)}`
    return isFailed ? `  not read: ${named}${again}` : `  read partly: ${named}`
  })
}

const MAX_TEXT = 1_000
