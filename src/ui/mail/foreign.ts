import { withoutInvisible } from "../../lib/invisible.ts"
import { cutText } from "../../lib/text.ts"

/**
 * A zero-width space. Mail programs do not turn a text into a link if it contains one. It is invisible, and a line may
 * break at it.
 */
const GAP = "\u200b"

/**
 * Returns a text that a mail program shows as it is, without links. Mail programs link what looks like an address
 * ("evil.example", "https:…", "a@b", "javascript:…"), so a zero-width space follows each ".", ":", "/" and "@" inside a
 * word. Characters that hide text or change its direction are removed, and white space becomes one space.
 */
export function plainText(text: string, most = MAX_TEXT): string {
  const line = withoutInvisible(text.toWellFormed())
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
  const cut = cutText(line, most)
  return (cut === line ? line : `${cut.trimEnd()}…`).replaceAll(ADDRESS_LIKE, (sign) => `${sign}${GAP}`)
}

const MAX_TEXT = 300

/**
 * Characters inside a word after which an address may continue. Between digits, as in "4.6" and "08:00", they do not
 * form an address.
 */
const ADDRESS_LIKE = /(?<=\S)[.:@/](?=\S)(?<!\d.(?=\d))/gu
