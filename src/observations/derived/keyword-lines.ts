/** Goes up where `shown` says something else than before. */
export const FORM = 1

/** What answers say of a keyword: parts of its JSON, each up to and with a comma, and what they hang on. */
export interface ShownKeyword {
  term: string
  listId: number
  /** The last day on which its results were read; null = never. */
  day: string | null
  /** Of that day's answer, ISO 8601. */
  seenAt: string | null
  depth: number | null
  /** The last day on which these figures are young enough; null = for good. */
  until: string | null
  /** Its first fields, where the day shown is that day. */
  measured: string
  /** The same where it is another. */
  unmeasured: string
  figures: string
}

/** Between the parts, and of those there is one a line: JSON has no such letter. */
export const PART = "\u0002"

/** Those of a line. */
export function shownIn(line: string): ShownKeyword {
  const [term, listId, day, seenAt, depth, until, measured, unmeasured, figures] = line.split(PART) as [
    string,
    ...string[],
  ]
  return {
    term,
    listId: Number(listId),
    day: day || null,
    seenAt: seenAt || null,
    depth: depth ? Number(depth) : null,
    until: until || null,
    measured: measured as string,
    unmeasured: unmeasured as string,
    figures: figures as string,
  }
}
