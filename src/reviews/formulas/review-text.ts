import { normalForm } from "../../lib/normal-form.ts"
/** Of a review, what is searched. */
export interface ReviewText {
  title: string | null
  text: string
}

/** A review as it is searched: title and text, folded each by itself; no folded query reaches from one into the other. */
export function foldReview({ title, text }: ReviewText): string {
  return title === null ? foldReviewText(text) : `${foldReviewText(title)}\n${foldReviewText(text)}`
}

/**
 * The spelling in which reviews are compared, the same wherever it is computed: two texts that a reader takes for one
 * spelling become one. In the manner of Unicode's NFKC_Casefold (UAX 31): width, ligatures, composed or decomposed
 * characters, invisible characters and case count for nothing, "ß" is "ss", and white space is one blank, none at the ends.
 * Other than there:
 *
 *     i   dotted or not, capital or not, is one letter: without a locale "I" is no "ı", and Turkish would be found in one
 *         spelling only
 *     '   and " are one each, straight or curly: phones write the curly one, keyboards the other
 *     ㅋ  letters of Hangul that stand alone stay so: NFKC would join "ㅋㅠ" to "큐", and lose both in "ㅋㅋㅠㅠ"
 *     -   every hyphen is the one of keyboards: phones and pages put U+2010 and U+2011 in its place
 *     ـَ   Arabic vowel signs and the stretching line count for nothing: most people write without them
 *
 * Diacritics count ("ö" is no "o": in Turkish and German it is another letter), and so do hiragana and katakana, and
 * traditional and simplified characters. Idempotent.
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
