/** Normalises the names of apps and publishers so that a search finds them in any spelling. */

/** Raise it when the result of foldApp or gramsOf changes: rows of another version are rebuilt. */
export const APP_TEXT_FORMULA = 1

/** Longer names are cut. No store allows a name this long. */
const MAX_LETTERS = 200

/** Separators of a folded text: NAME precedes each name, PUBLISHER precedes the publisher. Neither occurs in a word. */
export const NAME = "\n"
export const PUBLISHER = "\t"

/**
 * Returns the words of a text: runs of letters and digits in lower case, without accents, with compatible forms unified
 * (full width, ligatures). Scripts without spaces form runs of their own, and so does Hangul, whose words are joined:
 * "LINE漫画" becomes "line 漫画". An apostrophe does not split a word. No word is empty; a text without letters and digits
 * has no words.
 */
export function wordsOf(text: string): string[] {
  const plain = text
    .toWellFormed()
    .replace(/[™℠®©]/g, " ")
    .normalize("NFKD")
    .replace(/[\p{M}'’ʼ＇]/gu, "")
  // Upper case first: it unifies ß and ss, ı and i, and the two forms of sigma.
  const folded = plain
    .toUpperCase()
    .toLowerCase()
    .replace(/[ςłøđæœ]/g, (letter) => PLAIN[letter]!)
  const most = [...folded.normalize("NFC")].slice(0, MAX_LETTERS).join("")
  return most.match(WORD) ?? []
}

/** Letters without a removable accent, mapped to the letters that people type instead. */
const PLAIN: Record<string, string> = { ς: "σ", ł: "l", ø: "o", đ: "d", æ: "ae", œ: "oe" }
/** Characters of scripts that do not separate words, for use inside a character class of a regular expression. */
export const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}" +
  "\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}ー々"
const WORD = new RegExp(`[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}])+`, "gu")
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u")

/**
 * Returns all names of an app and its publisher as one text. Each name occurs once and names are sorted, so the same
 * names always give the same text. A space precedes every word. Null if no name and no publisher contains a word.
 */
export function foldApp(names: readonly string[], publisher: string | null): string | null {
  const folded = [...new Set(names.map((name) => spaced(wordsOf(name))))].filter((name) => name !== "").toSorted()
  const seller = spaced(wordsOf(publisher ?? ""))
  if (folded.length === 0 && seller === "") return null
  return `${NAME}${folded.map((name) => name + NAME).join("")}${PUBLISHER}${seller}${NAME}`
}

/** Returns the words of a folded text. */
export function foldedWords(folded: string): string[] {
  return folded.split(/[ \n\t]+/).filter((word) => word !== "")
}

/** Joins words as a folded text contains them: with a space before each. */
export function spaced(words: readonly string[]): string {
  return words.map((word) => ` ${word}`).join("")
}

/**
 * Returns the substring to look for in a folded text. Words of one or two letters match only at the start of a word.
 */
export function partOf(word: string): string {
  return isUnspaced(word) || [...word].length > 2 ? word : ` ${word}`
}

/**
 * Returns the hashes of the n-grams of these words for the search index. Words of scripts without spaces give each
 * character and each pair of neighbouring characters. Other words give each trigram, their first letter and their first
 * two letters. Two n-grams may have the same hash.
 */
export function gramsOf(words: readonly string[]): number[] {
  return numbersOf(words.flatMap((word) => [...piecesOf(word), ...startsOf(word)]))
}

/**
 * Returns the hashes of the n-grams of a search. The index entry of every text with all these words contains all of
 * them.
 */
export function gramsOfSearch(words: readonly string[]): number[] {
  return numbersOf(
    words.flatMap((word) => {
      const [pieces, { length }] = [piecesOf(word), [...word]]
      if (isUnspaced(word)) return length > 1 ? pieces.slice(length) : pieces
      return length > 2 ? pieces : [` ${word}`]
    }),
  )
}

function isUnspaced(word: string): boolean {
  return IS_UNSPACED.test(word)
}

function piecesOf(word: string): string[] {
  const letters = [...word]
  if (isUnspaced(word)) return [...letters, ...letters.slice(1).map((letter, at) => letters[at]! + letter)]
  return letters.slice(2).map((letter, at) => letters[at]! + letters[at + 1]! + letter)
}

function startsOf(word: string): string[] {
  if (isUnspaced(word)) return []
  const [first, second] = [...word]
  return second === undefined ? [` ${first}`] : [` ${first}`, ` ${first}${second}`]
}

/** Returns the distinct hashes in ascending order. */
function numbersOf(pieces: readonly string[]): number[] {
  return [...new Set(pieces.map(numberOf))].toSorted((a, b) => a - b)
}

/**
 * Returns FNV-1a of the UTF-16 code units as a signed 32-bit number. It takes a third of the storage of the n-gram
 * itself.
 */
function numberOf(piece: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < piece.length; at++) hash = Math.imul(hash ^ piece.charCodeAt(at), 0x01000193)
  return hash | 0
}
