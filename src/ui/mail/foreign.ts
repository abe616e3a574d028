import { withoutInvisible } from "../../lib/invisible.ts"
import { cutText } from "../../lib/text.ts"

/** Splits a text for mail programs, but neither shows nor takes room. A line may break there. */
const GAP = "\u200b"

/**
 * Returns a text that a mail program shows as it is and turns into no link. Mail programs link what looks like an
 * address ("evil.example", "https:…", "a@b", "javascript:…"), so a zero-width space splits those after ".", ":", "/"
 * and "@". Characters that hide text or change its direction are removed, and white space becomes one space.
 */
export function plainText(text: string, most = MAX_TEXT): string {
  const line = withoutInvisible(text.toWellFormed())
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
  const cut = cutText(line, most)
  return (cut === line ? line : `${cut.trimEnd()}…`).replaceAll(ADDRESS_LIKE, (sign) => `${sign}${GAP}`)
}

const MAX_TEXT = 300

/** Signs with which an address continues. Between digits, as in "4.6" and "08:00", they make none. */
const ADDRESS_LIKE = /(?<=\S)[.:@/](?=\S)(?<!\d.(?=\d))/gu
