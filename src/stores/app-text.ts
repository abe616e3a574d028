/** What apps are called and who sells them, folded so that they are found however somebody types them. */

/** Changes with what foldApp or gramsOf make of a text: rows of another one are made anew. */
export const APP_TEXT_FORMULA = 1

/** Of a name, the letters that count: no store lets one be so long. */
const MOST_LETTERS = 200

/** Begins each name, and the publisher behind them; no folded text holds either. */
export const NAME = "\n"
export const PUBLISHER = "\t"

/**
 * The words of a text: runs of letters and digits, compatible forms made one (full width, ligatures), without accents, in
 * lower case. Scripts that set no spaces, and Hangul, whose words are joined, are runs of their own: "LINE漫画" is "line 漫画".
 * An apostrophe parts no word. No word is empty; what has no letter and no digit has no words.
 */
export function wordsOf(text: string): string[] {
  const plain = text
    .toWellFormed()
    .replace(/[™℠®©]/g, " ")
    .normalize("NFKD")
    .replace(/[\p{M}'’ʼ＇]/gu, "")
  // upper case first: ß and ss, ı and i, the two forms of sigma are one
  const folded = plain
    .toUpperCase()
    .toLowerCase()
    .replace(/[ςłøđæœ]/g, (letter) => PLAIN[letter]!)
  const most = [...folded.normalize("NFC")].slice(0, MOST_LETTERS).join("")
  return most.match(WORD) ?? []
}

/** Letters that have no accent to be taken off, as people type them. */
const PLAIN: Record<string, string> = { ς: "σ", ł: "l", ø: "o", đ: "d", æ: "ae", œ: "oe" }
/** Characters of scripts whose words are not set apart, as a part of a regular expression's class. */
export const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々`
const WORD = new RegExp(`[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}])+`, "gu")
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u")

/**
 * All names of an app and its publisher as one text: each name once, in the order of its letters, so that the same names give
 * the same text. Every word stands behind a space. Null where none of them has a word.
 */
export function foldApp(names: readonly string[], publisher: string | null): string | null {
  const folded = [...new Set(names.map((name) => spaced(wordsOf(name))))].filter((name) => name !== "").toSorted()
  const seller = spaced(wordsOf(publisher ?? ""))
  if (folded.length === 0 && seller === "") return null
  return `${NAME}${folded.map((name) => name + NAME).join("")}${PUBLISHER}${seller}${NAME}`
}

/** The words of a folded text. */
export function foldedWords(folded: string): string[] {
  return folded.split(/[ \n\t]+/).filter((word) => word !== "")
}

/** As words stand in a folded text. */
export function spaced(words: readonly string[]): string {
  return words.map((word) => ` ${word}`).join("")
}

/** What a folded text must hold for a word to occur in it: a word of one or two letters begins one of its own. */
export function partOf(word: string): string {
  return isUnspaced(word) || [...word].length > 2 ? word : ` ${word}`
}

/**
 * Numbers of the pieces of these words, by which a text is found: of a script without spaces each character and each two beside
 * one another, of others each three, and the first one and two of a word. Two pieces may share a number.
 */
export function gramsOf(words: readonly string[]): number[] {
  return numbersOf(words.flatMap((word) => [...piecesOf(word), ...startsOf(word)]))
}

/** Of words that somebody looks for: each text that has them all has all of these. */
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

/** Each once, in order. */
function numbersOf(pieces: readonly string[]): number[] {
  return [...new Set(pieces.map(numberOf))].toSorted((a, b) => a - b)
}

/** FNV-1a of its UTF-16 units, as a signed number of 32 bits: a third of the room that the pieces themselves take. */
function numberOf(piece: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < piece.length; at++) hash = Math.imul(hash ^ piece.charCodeAt(at), 0x01000193)
  return hash | 0
}
