/** A line of a file that was not used. */
interface SkippedLine {
  line: number
  fault: "quotes" | "keyword" | "storefront"
}

/**
 * The parameter with the skipped lines of a file. It contains codes instead of text, so that nobody can put a text on
 * the page through an address.
 */
export const SKIPPED = "skipped"

const MAX_LISTED = 20

const TEXTS: Readonly<Record<SkippedLine["fault"], string>> = {
  quotes: "its quotes are not closed",
  keyword: "it has no keyword",
  storefront: "its storefront is unknown",
}

/** Returns the number of skipped lines, and a code for each of the first ones: "2.3-keyword.7-quotes". */
export function skippedCode(bad: readonly SkippedLine[]): string {
  const listed = bad.slice(0, MAX_LISTED).map(({ line, fault }) => `${line}-${fault}`)
  return [bad.length, ...listed].join(".")
}

/** Describes the skipped lines in words. Empty if the text is not a valid code. */
export function skippedLines(code: string): { count: number; lines: string[] } {
  const [count = "", ...listed] = code.split(".")
  const lines = listed.slice(0, MAX_LISTED).flatMap((entry) => {
    const [, line, fault] = /^(\d{1,7})-(quotes|keyword|storefront)$/.exec(entry) ?? []
    return line === undefined ? [] : [`Line ${line}: ${TEXTS[fault as SkippedLine["fault"]]}.`]
  })
  return { count: /^\d{1,7}$/.test(count) ? Number(count) : 0, lines }
}
