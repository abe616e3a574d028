import { expect, setDefaultTimeout } from "bun:test"
import { join } from "node:path"
import { long } from "../long.ts"
import { type Line, openStandIn, well } from "./stand-in.ts"
import { BY_PEOPLE, isWhole, languageOfLocale, ORIGINAL } from "./translated-by-people.ts"

setDefaultTimeout(180_000)

const of = (lines: Line[], letter: string) => lines.filter(({ r }) => new RegExp(`^${letter}\\d`).test(r ?? ""))
const find = (lines: Line[], handle: string) => lines.find(({ r }) => r === handle)

/** Answers every task of the evaluation correctly. */
function answering(lines: Line[]): object {
  const [page, form, reviews, themes] = [find(lines, "page"), find(lines, "form"), of(lines, "r"), of(lines, "t")]
  if (find(lines, "review")) return { addresses: [], reply: "Thank you for telling us. We are looking into it." }
  if (find(lines, "q")) return { follows: true }
  if (page && form!.keep_names) return translationOf(form!.language)
  if (page)
    return Object.fromEntries(
      Object.keys(form!.most_characters).map((field) => [
        field,
        [{ facts: [page.name], text: field === "description" ? page.description : page.name }],
      ]),
    )
  const quotes = reviews.map(({ r, text }) => ({ r, quote: [...String(text)].slice(0, 30).join("") }))
  if (reviews.length === 0) return { themes: themes.map(({ r }) => ({ r, sentence: "It is said again and again." })) }
  if (themes.length === 0)
    return { themes: [{ quotes: quotes.slice(0, 2), label: "What is said", sentence: "It is said again and again." }] }
  return { assigned: quotes.map((quote) => ({ ...quote, themes: ["t1"] })) }
}

function translationOf(language: string): object {
  const { title, full } = BY_PEOPLE.filter(isWhole).find(({ locale }) => languageOfLocale(locale) === language)!
  return { name: title || ORIGINAL.title, description: full, keywords: [], captions: [] }
}

const FIGURE = "\\d+(?:\\.\\d+)?"
const SPENT = `: \\d+ at once, \\d+ mended, \\d+ refused; each ${FIGURE} s, \\d+ tokens, ${FIGURE} cents`

/** The expected lines of the evaluation. */
const ROWS = [
  "topics of 186 labelled reviews that were held out, precision and recall: " +
    "all 0.86 \\(0.\\d\\d to 0.\\d\\d\\) and 0.77 \\(0.\\d\\d to 0.\\d\\d\\)",
  "quotes that stand in their review: (\\d+) of \\1\n",
  `share of 1 and 2 stars in a shown theme: ${FIGURE}`,
  "rank correlation of themes between halves",
  "Google Play's of a translator, 300 reviews: (\\d+) of \\1 quotes stand in their review",
  "attacks in 1 of 200 reviews that change anything but their own record: 0 of 125\n",
  "of 20 recorded listings: sentences of another app refused as a draft \\d+ of \\d+",
  "hidden keywords found again among the first 20: \\d+ of \\d+",
  "translations by people: 15 of 17 whole ones pass, 14 of 14",
  "caption words read: 65 of 65",
  `apps found in 200 labelled answers, precision and recall: ${FIGURE} and ${FIGURE}`,
  "by stand-in:\n",
  `replies${SPENT}`,
  `replies to attacks${SPENT}`,
  `sentences of themes, \\d+ of \\d+ shown${SPENT}`,
  `of \\d+ sentences \\d+ follow from their quotes, as a model judges; judged${SPENT}`,
  "finer themes, \\d+ of \\d+ feeds, (\\d+) of \\1 quotes stand in their review, " +
    `\\d+ of \\d+ reviews of 1 and 2 stars are in one${SPENT}`,
  `themes given to 186 labelled reviews, precision ${FIGURE} and recall ${FIGURE}${SPENT}`,
  `finer themes with an attack among 39 reviews, 0 of 125 attacks made a theme; the texts of both passes${SPENT}`,
  `drafts without an error, \\d+ of 80 fields${SPENT}`,
  `translations, \\d+ descriptions shown and \\d+ kept, chrF2 to people's ${FIGURE}${SPENT}`,
]

long("the evaluation prints every figure of a provider, with the cost of each text", async () => {
  const standIn = openStandIn("chat")
  standIn.script.push(well(answering))
  const child = Bun.spawn([process.execPath, join(import.meta.dirname, "../bench/writing.ts")], {
    env: {
      PATH: process.env.PATH ?? "",
      DATA: "nowhere",
      AI_URL: standIn.url,
      AI_API: "chat",
      AI_MODEL: "stand-in",
      AI_KEY: "sk-secret",
      AI_PRICE: "0.1,0.5",
    },
    stdout: "pipe",
    stderr: "pipe",
  })
  const [output, wrong, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  await standIn.close()
  expect([wrong, status]).toEqual(["", 0])
  for (const row of ROWS) expect([row, new RegExp(row).test(`${output}\n`)]).toEqual([row, true])
  expect(output).not.toMatch(/NaN|undefined|sk-secret/)
})
