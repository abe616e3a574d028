import { type Html, html } from "../html.ts"
import { dayTime, momentTime } from "../times.ts"
import { counted, spoken } from "../words.ts"

/** Of an app's page in a store, the own or a rival's. */
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

/** Of others' descriptions no words are told, of promotional texts not on every plan. */
const WORDED = ["name", "subtitle", "description", "promotional_text"]

/** What it was before and after, or that it changed. */
export function changePart({
  kind,
  day,
  notYetAt,
  title,
  before,
  after,
  picturesBefore,
  picturesAfter,
  source,
}: Change): Html {
  const isUntold = before === null && after === null && WORDED.includes(kind)
  return html`<li><p><strong>${spoken(kind)}</strong>${title && html` · <bdi>${title}</bdi>`}</p>${
    (before !== null || after !== null) && diffPart(before, after)
  }${isUntold && html`<p class="quiet">It changed; its words are not told here.</p>`}${picturesAfter && html`<div class="swap"><p><span>Before</span> ${counted(picturesBefore?.length ?? 0, "picture")}</p><p><span>After</span> ${counted(picturesAfter.length, "picture")}</p></div>`}<p class="small quiet">Seen ${dayTime(day)}${notYetAt && html`, not yet on ${momentTime(notYetAt)}`} · <code>${source}</code></p></li>
`
}

/** A text before and after, with the words that went and came; of several paragraphs, those alone that differ. */
export function diffPart(
  before: string | null,
  after: string | null,
  names: readonly [string, string] = ["Before", "After"],
): Html {
  const [gone, came] = before !== null && after !== null ? wordsOf(...differing(before, after)) : [before, after]
  return html`<div class="swap"><p><span>${names[0]}</span> <bdi>${gone ?? html`<span class="quiet">nothing</span>`}</bdi></p><p><span>${names[1]}</span> <bdi>${came ?? html`<span class="quiet">nothing</span>`}</bdi></p></div>`
}

/** Both without the paragraphs that they begin and end with alike; "…" where some were. */
function differing(before: string, after: string): [string, string] {
  const [old, fresh] = [before.split(/\n+/), after.split(/\n+/)]
  const most = Math.min(old.length, fresh.length)
  let first = 0
  while (first < most && old[first] === fresh[first]) first++
  let last = 0
  while (last < most - first && old.at(-1 - last) === fresh.at(-1 - last)) last++
  const middle = (lines: readonly string[]) =>
    `${first > 0 ? "… " : ""}${lines.slice(first, lines.length - last).join("\n")}${last > 0 ? " …" : ""}`
  return [middle(old), middle(fresh)]
}

/** Of longer texts the words are not compared: it costs their product. */
const MOST_WORDS = 300

/** Between words: white space, and what ends them. */
const WORDS = /(\s+|[,.;:!?]+)/

function wordsOf(before: string, after: string): [Html | string, Html | string] {
  const [old, fresh] = [before.split(WORDS), after.split(WORDS)]
  if (old.length > MOST_WORDS || fresh.length > MOST_WORDS) return [before, after]
  const kept = keptOf(old, fresh)
  const marked = (words: readonly string[], isKept: (at: number) => boolean, tag: "del" | "ins") =>
    words.map((word, at) =>
      isKept(at) || word.trim() === "" ? word : tag === "del" ? html`<del>${word}</del>` : html`<ins>${word}</ins>`,
    )
  return [
    html`${marked(old, (at) => kept.old.has(at), "del")}`,
    html`${marked(fresh, (at) => kept.fresh.has(at), "ins")}`,
  ]
}

/** Places of the longest row of words that both have, in order. */
function keptOf(old: readonly string[], fresh: readonly string[]): { old: Set<number>; fresh: Set<number> } {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1))
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      lengths[i]![j] =
        old[i] === fresh[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!)
  const kept = { old: new Set<number>(), fresh: new Set<number>() }
  for (let i = 0, j = 0; i < old.length && j < fresh.length; ) {
    if (old[i] === fresh[j]) {
      kept.old.add(i++)
      kept.fresh.add(j++)
    } else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) i++
    else j++
  }
  return kept
}
