import { normalForm } from "../../lib/normal-form.ts"
/** The searchable part of a review. */
export interface ReviewText {
  title: string | null
  text: string
}

/**
 * Folds a review for the search: title and text separately, joined by a line break, so that no query matches across
 * both.
 */
export function foldReview({ title, text }: ReviewText): string {
  return title === null ? foldReviewText(text) : `${foldReviewText(title)}\n${foldReviewText(text)}`
}

/**
 * Returns the spelling in which reviews are compared: texts that a reader takes for the same spelling become equal. The
 * result does not depend on the locale. It follows Unicode's NFKC_Casefold (UAX 31): width, ligatures, composition,
 * invisible characters and case are ignored, "ß" becomes "ss", and white space is collapsed and trimmed. It differs in
 * these points:
 * - `i` with or without a dot, capital or not, is one letter: without a locale "I" does not equal "ı", so Turkish
 *   would be found in one spelling only.
 * - `'` and `"` match their curly forms: phones write curly quotes, keyboards straight ones.
 * - `ㅋ`: standalone letters of Hangul stay separate. NFKC would join "ㅋㅠ" to "큐", and lose both in "ㅋㅋㅠㅠ".
 * - `-`: every hyphen becomes the ASCII hyphen, because phones and pages write U+2010 and U+2011.
 * - `ـَ`: Arabic vowel signs and the stretching line are removed, because most people write without them.
 *
 * Diacritics are kept ("ö" is not "o": in Turkish and German it is another letter), and so are the differences between
 * hiragana and katakana and between traditional and simplified characters. Idempotent.
 */
export function foldReviewText(text: string): string {
  const folded = normalForm(text, "NFC")
    .replaceAll("´", "'")
    .replace(NO_LONE_HANGUL, (run) => normalForm(run, "NFKD"))
    .replace(SINGLE_QUOTES, "'")
    .replace(DOUBLE_QUOTES, '"')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll("ς", "σ")
    .replace(INVISIBLE, "")
    .replace(HYPHENS, "-")
    .replace(ARABIC_SIGNS, "")
    .replace(MARKED_I, (letter) => letter.replaceAll("\u0307", ""))
    .replace(/\s+/gu, " ")
    .trim()
  return normalForm(folded, "NFC")
}

const SINGLE_QUOTES = /[`‘’‚‛′]/gu
const DOUBLE_QUOTES = /[“”„‟]/gu
const NO_LONE_HANGUL = /[^\u3131-\u318e\uffa0-\uffdc]+/gu
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu
const HYPHENS = /[\u2010\u2011\ufe63\uff0d\u2212]/gu
const ARABIC_SIGNS =
  /[\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]/gu
const MARKED_I = /i\p{M}+/gu
