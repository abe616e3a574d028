/** Shortens a text to at most `most` UTF-16 units, without splitting a character. A shortened text ends with "…". */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const end = most - 1
  // do not keep the first half of a surrogate pair
  const pair = text.codePointAt(end - 1)! > 0xffff
  return `${text.slice(0, pair ? end - 1 : end)}…`
}
