import { diffWordsWithSpace } from "diff"
import { type Html, html } from "../html.ts"
import { sourceName } from "../source-names.ts"
import { dayTime, momentTime } from "../times.ts"
import { counted, spoken } from "../words.ts"
import type { PageContext } from "./context.ts"

/** A change of a store page, of the owner's app or of a rival. */
export interface Change {
  kind: string
  day: string
  notYetAt: string | null
  title: string | null
  before: string | null
  after: string | null
  picturesBefore: string[] | null
  picturesAfter: string[] | null
  source: string
}

/**
 * Kinds of changes whose value is text. The text is hidden for rivals' descriptions, and for promotional texts on some
 * plans.
 */
const TEXT_KINDS = ["name", "subtitle", "description", "promotional_text"]

/** Shows the values before and after a change. If the text is hidden, shows only that it changed. */
export function changePart(context: Pick<PageContext, "picture">, change: Change): Html {
  const { kind, day, notYetAt, title, before, after, picturesBefore, picturesAfter, source } = change
  const hasText = before !== null || after !== null
  const isHidden = !hasText && TEXT_KINDS.includes(kind)
  return html`<li><p><strong>${spoken(kind)}</strong>${title && html` · <bdi>${title}</bdi>`}</p>${
    hasText && diffPart(before, after)
  }${isHidden && html`<p class="quiet">It changed; its words are not told here.</p>`}${
    picturesAfter && picturesPart(context, picturesBefore ?? [], picturesAfter)
  }<p class="small quiet">Seen ${dayTime(day)}${
    notYetAt && html`, not yet on ${momentTime(notYetAt)}`
  } · ${sourceName(source)}</p></li>
`
}

const PICTURE_WIDTH = 300

function picturesPart(
  context: Pick<PageContext, "picture">,
  before: readonly string[],
  after: readonly string[],
): Html {
  const list = (name: string, pictures: readonly string[]) => {
    const count = counted(pictures.length, "picture")
    return html`<div><p><span>${name}</span> ${count}</p>${pictureRow(context, pictures, name)}</div>`
  }
  return html`<div class="swap">${list("Before", before)}${list("After", after)}</div>`
}

function pictureRow(context: Pick<PageContext, "picture">, pictures: readonly string[], name: string): Html | false {
  const images = pictures.flatMap((address, at) => {
    const source = context.picture(address, PICTURE_WIDTH)
    const alt = `Screenshot ${at + 1}, ${name.toLowerCase()}`
    return source === null ? [] : html`<img src="${source}" alt="${alt}" width="100" loading="lazy">`
  })
  return (
    images.length > 0 &&
    html`<div class="shots" tabindex="0" role="group" aria-label="${`Screenshots ${name.toLowerCase()}`}">
${images}</div>`
  )
}

/**
 * Shows a text before and after a change, with the removed and added words marked. Includes only the paragraphs that
 * differ.
 */
export function diffPart(
  before: string | null,
  after: string | null,
  names: readonly [string, string] = ["Before", "After"],
): Html {
  const [old, current] =
    before !== null && after !== null ? markedWords(...differingParagraphs(before, after)) : [before, after]
  return html`<div class="swap">${textPart(names[0], old)}${textPart(names[1], current)}</div>`
}

function textPart(name: string, text: Html | string | null): Html {
  return html`<p><span>${name}</span> <bdi>${text ?? html`<span class="quiet">nothing</span>`}</bdi></p>`
}

/** Replaces equal paragraphs at both ends with "…". */
function differingParagraphs(before: string, after: string): [string, string] {
  const old = before.split(/\n+/)
  const current = after.split(/\n+/)
  const shortest = Math.min(old.length, current.length)
  let first = 0
  while (first < shortest && old[first] === current[first]) first++
  let last = 0
  while (last < shortest - first && old.at(-1 - last) === current.at(-1 - last)) last++
  const middle = (paragraphs: readonly string[]) =>
    `${first > 0 ? "… " : ""}${paragraphs.slice(first, paragraphs.length - last).join("\n")}${last > 0 ? " …" : ""}`
  return [middle(old), middle(current)]
}

/**
 * Texts that differ in more words are shown without marks, because the comparison takes time proportional to the square
 * of the number of differences.
 */
const MAX_EDITS = 300

/** Marks the words that were removed and added. */
function markedWords(before: string, after: string): [Html | string, Html | string] {
  const parts = diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITS })
  if (!parts) return [before, after]
  const old = parts.filter(({ added }) => !added)
  const current = parts.filter(({ removed }) => !removed)
  return [
    html`${old.map(({ value, removed }) => (removed ? html`<del>${value}</del>` : value))}`,
    html`${current.map(({ value, added }) => (added ? html`<ins>${value}</ins>` : value))}`,
  ]
}
