import type { PictureLine, PictureText } from "../../lib/writing/picture-text.ts"

/**
 * Minimum height of a caption's words, relative to the picture's shorter side. Smaller words belong to the app's
 * screen. Together with MIN_CONFIDENCE, this minimum finds all 65 caption words on eight real screenshots, and ten
 * other words, all of them numbers.
 */
const MIN_HEIGHT = 40 / 1_037
/** Minimum confidence of a caption's words. A minimum of 90 would miss a bold name on the eight screenshots. */
const MIN_CONFIDENCE = 80

/** Converts Tesseract's table (TSV) to lines of large words. */
export function linesOf(table: string, size: { width: number; height: number }): PictureText {
  const least = Math.min(size.width, size.height) * MIN_HEIGHT
  const large = wordsIn(table).filter(
    ({ text, height, confidence }) => height >= least && confidence >= MIN_CONFIDENCE && /[\p{L}\p{N}]/u.test(text),
  )
  return { ...size, lines: groupByRow(large).map(lineOf) }
}

/**
 * Returns the words in the table. Its columns: level, page, block, paragraph, line, word, left, top, width, height,
 * confidence, text.
 */
function wordsIn(table: string): PictureLine[] {
  return table.split("\n").flatMap((row) => {
    const [level, , , , , , x, y, width, height, confidence, text = ""] = row.split("\t")
    if (level !== WORD || text.trim() === "") return []
    const place = { x: Number(x), y: Number(y), width: Number(width), height: Number(height) }
    return [{ text: text.trim(), confidence: Number(confidence), ...place }]
  })
}

const WORD = "5"

/**
 * Groups words of similar height and position into lines, top to bottom. In its sparse-text mode, Tesseract itself
 * would split some of these lines.
 */
function groupByRow(words: readonly PictureLine[]): PictureLine[][] {
  const lines: PictureLine[][] = []
  for (const word of words.toSorted((a, b) => middleOf(a) - middleOf(b))) {
    const line = lines.at(-1)
    if (line && middleOf(word) - middleOf(line[0]!) < word.height / 2) line.push(word)
    else lines.push([word])
  }
  return lines.flatMap((line) => partsOf(line.toSorted((a, b) => a.x - b.x)))
}

function middleOf({ y, height }: PictureLine): number {
  return y + height / 2
}

/** Splits a line at gaps wider than twice the height of its words. */
function partsOf(line: readonly PictureLine[]): PictureLine[][] {
  const parts: PictureLine[][] = []
  for (const word of line) {
    const before = parts.at(-1)?.at(-1)
    if (before && word.x - before.x - before.width < 2 * word.height) parts.at(-1)!.push(word)
    else parts.push([word])
  }
  return parts
}

/** Joins words to a line. The line gets the confidence of its least certain word. */
function lineOf(words: readonly PictureLine[]): PictureLine {
  const [x, y] = [Math.min(...words.map((word) => word.x)), Math.min(...words.map((word) => word.y))]
  return {
    text: words.map(({ text }) => text).join(isUnspaced(words) ? "" : " "),
    confidence: Math.floor(Math.min(...words.map(({ confidence }) => confidence))),
    x,
    y,
    width: Math.max(...words.map((word) => word.x + word.width)) - x,
    height: Math.max(...words.map((word) => word.y + word.height)) - y,
  }
}

/** Returns true for scripts without spaces, whose text Tesseract splits into words too. */
function isUnspaced(words: readonly PictureLine[]): boolean {
  return words.every(({ text }) => /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(text))
}
