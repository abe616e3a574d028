/** The text with at most so many UTF-16 units, whole characters, "…" at the end of what was cut. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const end = most - 1
  // the first half of a pair would stand alone
  const pair = text.codePointAt(end - 1)! > 0xffff
  return `${text.slice(0, pair ? end - 1 : end)}…`
}
