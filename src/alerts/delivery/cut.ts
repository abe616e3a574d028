import { Buffer } from "node:buffer"

/** Shortens a text to at most `most` UTF-16 units, without splitting a character. A shortened text ends with "…". */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const end = most - 1
  // do not keep the first half of a surrogate pair
  const pair = text.codePointAt(end - 1)! > 0xffff
  return `${text.slice(0, pair ? end - 1 : end)}…`
}

/** Shortens a text to at most `most` bytes of UTF-8. A shortened text ends with "…". */
export function cutBytes(text: string, most: number): string {
  return shortened(
    text,
    most,
    (part) => Buffer.byteLength(part),
    (part) => part,
  )
}

/** Shortens a text so that its escaped form has at most `most` UTF-16 units. No escape is split. */
export function cutMarked(text: string, most: number, mark: (part: string) => string): string {
  return shortened(text, most, (part) => part.length, mark)
}

/** Returns the longest beginning whose converted form fits, found by halving. */
function shortened(
  text: string,
  most: number,
  sizeOf: (converted: string) => number,
  convert: (part: string) => string,
): string {
  const start = cut(text, most)
  const whole = convert(start)
  if (sizeOf(whole) <= most) return whole
  let [fits, exceeds] = [1, start.length]
  while (exceeds - fits > 1) {
    const length = Math.floor((fits + exceeds) / 2)
    if (sizeOf(convert(cut(text, length))) <= most) fits = length
    else exceeds = length
  }
  return convert(cut(text, fits))
}
