import type { Sql } from "../../database/types.ts"
import { listingLocale } from "../../lib/locales.ts"
import { APP_STORE } from "../../listings/checks/metadata-fields.ts"
import {
  type GridLocale,
  type LocaleTexts,
  type LocalisationGrid,
  localisationGrid,
  SEARCHED_FIELDS,
} from "../../listings/formulas/localisation-grid.ts"
import { fieldLine, localeName, wasteWords } from "../../listings/localisation-words.ts"
import { readDeveloper, readKnownTexts } from "../../listings/read/localisation-texts.ts"
import { textFiles } from "../check.ts"
import { type Command, CommandProblem } from "../cli/command.ts"
import { printable, show, table } from "../cli/show.ts"
import { useDatabase } from "../cli/with-database.ts"
import { findTracked } from "./app.ts"

export const appLocalisation: Command = {
  name: "app localisation",
  summary: "Show which locale's words count in which storefront.",
  details:
    "A storefront of the App Store indexes several locales, and a word counts once. Words that add nothing are " +
    "listed with the reason. Names and subtitles are those of your store pages. The keyword field is on no page: " +
    "--metadata reads it with the other texts from fastlane's folder.",
  examples: [
    ["app localisation 'Tide Times'", "by the store pages that were read"],
    ["app localisation 'Tide Times' --metadata ./fastlane/metadata", "by your own texts, with the keyword field"],
  ],
  positionals: ["app"],
  options: { metadata: { value: "FOLDER", meaning: "fastlane's metadata of the App Store." } },
  async run(invocation) {
    const [word = ""] = invocation.positionals
    const folder = invocation.text("metadata")
    const written = folder === undefined ? null : textsIn(folder)
    const answer = await useDatabase(invocation, async (sql) => {
      const app = await findApp(sql, word)
      const { listings, from, readAt } = written
        ? { listings: written, from: "metadata" as const, readAt: null }
        : await readKnownTexts(sql, app.iosApp, app.countries)
      const names = { name: app.name, developer: await readDeveloper(sql, app.iosApp) }
      return { from, readAt, ...localisationGrid(listings, app.countries, names) }
    })
    if (answer.from === null) throw new CommandProblem(NOTHING_READ)
    show(invocation, answer, () => linesOf(answer))
    return 0
  },
}

const NOTHING_READ =
  "no store page of the app was read yet; wait for the first reading, or give your own texts with --metadata FOLDER"

async function findApp(sql: Sql, word: string) {
  const { id, name } = await findTracked(sql, word)
  const [row] = await sql<{ iosApp: number | null; countries: string[] }[]>`
    select ios_app as "iosApp", countries
    from tracked_app
    where id = ${id}`
  if (row?.iosApp == null)
    throw new CommandProblem("the app is only on Google Play, which has one listing per language")
  return { name, iosApp: row.iosApp, countries: row.countries }
}

function textsIn(folder: string): LocaleTexts[] {
  const found = new Map<string, LocaleTexts>()
  for (const [path, bytes] of textFiles(folder)) {
    const [name = "", file = "", ...deeper] = path.split("/")
    const locale = APP_STORE.locales.includes(name) ? listingLocale(name) : undefined
    const field = SEARCHED_FIELDS.find((each) => file === `${each}.txt`)
    if (!locale || !field || deeper.length > 0) continue
    const listing = found.get(locale) ?? { locale, texts: {} }
    listing.texts[field] = new TextDecoder().decode(bytes).trim()
    found.set(locale, listing)
  }
  if (found.size > 0) return [...found.values()]
  throw new CommandProblem(`${folder} contains no locale with name.txt, subtitle.txt or keywords.txt, such as en-US/`)
}

function linesOf({ locales, storefronts }: LocalisationGrid): string[] {
  const filled = locales.filter(({ words }) => words.length > 0)
  const rows = storefronts.map(({ country, cells, words }) => [
    country,
    ...filled.map(({ locale }) => cells.find((cell) => cell.locale === locale)?.adds ?? null),
    words,
  ])
  const other = locales.filter(({ words, readBy }) => words.length === 0 && readBy.length > 0)
  return [
    ...table(["STOREFRONT", ...filled.map(({ locale }) => locale), "WORDS"], rows),
    "",
    ...filled.flatMap(localeLines),
    ...(other.length > 0
      ? [`Indexed by your storefronts, but without texts: ${other.map(({ locale }) => locale).join(", ")}`]
      : []),
  ]
}

function localeLines({ locale, readBy, fields, words }: GridLocale): string[] {
  const counting = words.filter(({ waste }) => waste === null).map(({ text }) => printable(text))
  const wasted = words.filter(({ waste }) => waste !== null)
  return [
    `${locale} (${localeName(locale)}), indexed in ${readBy.join(", ") || "none of your storefronts"}`,
    `  ${fields.map(fieldLine).join("; ")}`,
    `  counts: ${counting.join(" ") || "no word"}`,
    ...wasted.map((word) => `  adds nothing: ${printable(word.text)} (${wasteWords(word)})`),
    "",
  ]
}
