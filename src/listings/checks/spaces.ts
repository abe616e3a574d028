import { quoted } from "./finding.ts"
import { type Check, type Entry, type FieldText, given, type Mark, markOf, type Stretch, textOf } from "./listing.ts"

/** Reports useless white space in all fields except the description, where it separates paragraphs. */
export const spaces: Check = (listing) => [
  ...given(listing, "name", "subtitle", "promotionalText").flatMap(outerSpaces),
  ...given(listing, "name", "subtitle").flatMap(doubleSpaces),
  ...given(listing, "keywords").flatMap((field) => [
    ...field.entries.filter(isFull).flatMap((entry) => spacesAround(field, entry)),
    ...emptyKeywords(field),
    ...field.entries.flatMap((entry) => wrongSeparators(field, entry)),
  ]),
]

function outerSpaces(field: FieldText): Mark[] {
  const start = field.text.length - field.text.trimStart().length
  const end = Math.max(start, field.text.trimEnd().length)
  const outer = [
    { at: 0, end: start },
    { at: end, end: field.text.length },
  ]
  return outer.flatMap((stretch) =>
    space(field, stretch, "outer_space", `at the ${stretch.at === 0 ? "beginning" : "end"} of the ${field.label}`),
  )
}

function doubleSpaces(field: FieldText): Mark[] {
  return [...field.text.matchAll(/(?<=\S\s)\s+(?=\S)/g)].flatMap(({ 0: { length }, index }) =>
    space(field, { at: index, end: index + length }, "double_space", "more than one space between two words"),
  )
}

function spacesAround(field: FieldText, { from, to, at, end }: Entry): Mark[] {
  const where = `around the keyword ${quoted(textOf(field, { at, end }))}`
  return [
    { at: from, end: at },
    { at: end, end: to },
  ].flatMap((stretch) => space(field, stretch, "keyword_space", where))
}

/**
 * Reports each superfluous comma: the comma before an empty keyword, or after it if the empty keyword comes first in
 * the field.
 */
function emptyKeywords(field: FieldText): Mark[] {
  const first = field.entries.findIndex(isFull)
  return field.entries.flatMap((entry, place) => {
    if (isFull(entry)) return []
    const leads = first < 0 || place < first
    const stretch = { at: leads ? entry.from : entry.from - 1, end: leads ? entry.to + 1 : entry.to }
    if (stretch.end > field.text.length)
      return space(field, { at: entry.from, end: entry.to }, "keyword_space", "alone")
    const message = `There is no keyword at this comma, which costs ${count(field, stretch)}.`
    return [{ ...markOf(field, stretch, { code: "empty_keyword", severity: "warning", message }), waste: stretch }]
  })
}

function isFull({ at, end }: Entry): boolean {
  return at < end
}

function space(
  field: FieldText,
  stretch: Stretch,
  code: "outer_space" | "double_space" | "keyword_space",
  where: string,
) {
  if (stretch.at >= stretch.end) return []
  const message = `White space ${where} costs ${count(field, stretch)}.`
  return [{ ...markOf(field, stretch, { code, severity: "warning", message }), waste: stretch } satisfies Mark]
}

function count(field: FieldText, { at, end }: Stretch): string {
  const points = field.offsetOf(end) - field.offsetOf(at)
  return points === 1 ? "1 character" : `${points} characters`
}

function wrongSeparators(field: FieldText, { at, end }: Entry): Mark[] {
  return [...textOf(field, { at, end }).matchAll(/[;；、،؛|\n]/g)].map(({ 0: found, index }) => {
    const message = `${found === "\n" ? "A line break" : quoted(found)} does not separate keywords; only commas do.`
    const stretch = { at: at + index, end: at + index + found.length }
    return markOf(field, stretch, { code: "wrong_separator", severity: "warning", message })
  })
}
