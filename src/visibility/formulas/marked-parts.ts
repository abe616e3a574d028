/** A part of an answer that is formatted like a name: the head of a list item, a heading, a table cell, bold words. */
export interface MarkedPart {
  from: number
  to: number
}

/** Returns the parts in the order of the answer. Bold words inside a head appear twice. */
export function markedParts(answer: string): MarkedPart[] {
  const parts: MarkedPart[] = []
  let start = 0
  for (const line of answer.split("\n")) {
    for (const part of inLine(line)) parts.push({ from: start + part.from, to: start + part.to })
    start += line.length + 1
  }
  return parts
}

const HEAD = /^[\s>]*(?:#{1,6}\s+(?:\d{1,2}[.)、．]\s*)?|[-*•+·–]\s+|\d{1,2}[.)、．]\s*|[①-⑳]\s*)/u
const BOLD = /\*\*(.+?)\*\*|__(.+?)__/g

function inLine(line: string): MarkedPart[] {
  const cells = /^\s*\|/.test(line) ? cellsOf(line) : []
  const head = HEAD.exec(line)?.[0].length
  const heads = head === undefined ? [] : [headOf(line, head, line.length)]
  const bold = [...line.matchAll(BOLD)].map(({ 0: whole, index }) => headOf(line, index + 2, index + whole.length - 2))
  return [...cells, ...heads, ...bold]
}

function cellsOf(line: string): MarkedPart[] {
  return [...line.matchAll(/[^|]+/g)].map(({ 0: cell, index }) => headOf(line, index, index + cell.length))
}

/** Separators between a name and its description. */
const APART = /\s[–—-]+\s|\s?[:：(（[|,，、]|\.\s|。|!|？|\?|\*\*\s*[^*\s]/u

function headOf(line: string, from: number, to: number): MarkedPart {
  // skip the bold marks, brackets and quotes before the name
  const lead = /^[\s*_[「『"“]*/u.exec(line.slice(from, to))?.[0].length ?? 0
  const rest = line.slice(from + lead, to)
  const end = APART.exec(rest)?.index ?? rest.length
  return { from: from + lead, to: from + lead + end }
}
