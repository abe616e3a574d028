import { genreName } from "../../lib/genre-names.ts"
import { storefrontName, storefrontNamed } from "../../lib/storefront-names.ts"
import type { PageContext } from "../../ui/app/context.ts"
import { checkFields, type FormState, selectField, textField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { genreOptions, kindName, marketAddress } from "./frame.ts"

/** The filters of an address: the input of the operation, the values of the form, and the errors by field. */
export interface Filters {
  input: Record<string, unknown>
  values: URLSearchParams
  errors: Record<string, string>
  isEmpty: boolean
  /** The filters as text for a person. */
  names: string[]
}

const KINDS = ["free", "paid", "grossing", "ipad"] as const
const MAX_COUNTRIES = 5
const MAX_GENRES = 3

const RANGES = [
  ["rank", "Best rank", ""],
  ["downloads", "Downloads a month", ""],
  ["revenue", "Revenue a month, US dollars", ""],
  ["growth", "Growth in 30 days, percent", ""],
] as const

const TEXTS = [
  ["text", "Words in app or publisher"],
  ["publisher", "Publisher id"],
] as const

export function filtersIn(query: URLSearchParams, country: string): Filters {
  const values = new URLSearchParams(query)
  const errors: Record<string, string> = {}
  const input: Record<string, unknown> = {}
  const names: string[] = []
  const typed = (name: string) => query.get(name)?.trim() ?? ""
  const given = (name: string, value: unknown, words: string) => {
    input[name] = value
    names.push(words)
  }
  const places =
    typed("country") === ""
      ? [country]
      : typed("country")
          .split(/[,;]+/)
          .map((text) => text.trim())
  const countries = places.filter(Boolean).map((text) => storefrontNamed(text))
  if (countries.includes(undefined)) errors.country = "Enter storefronts as names or codes: Japan, gb."
  else if (countries.length > MAX_COUNTRIES) errors.country = `Enter at most ${MAX_COUNTRIES} storefronts.`
  else input.country = countries
  const genres = query
    .getAll("genre")
    .flatMap((text) => text.split(","))
    .filter((text) => text !== "")
  if (genres.length > MAX_GENRES) errors.genre = `Choose at most ${MAX_GENRES} categories.`
  else if (genres.length > 0) given("genre", genres, genres.map(genreName).join(", "))
  const kind = typed("kind")
  if (KINDS.some((one) => one === kind)) given("kind", kind, kindName(kind))
  const released = typed("released")
  if (released !== "") {
    if (/^\d{1,3}$/.test(released) && Number(released) >= 1 && Number(released) <= 240)
      given("released", Number(released), `first seen within ${released} months`)
    else errors.released = "Enter whole months, from 1 to 240."
  }
  for (const [name, label] of RANGES)
    for (const end of ["Min", "Max"] as const) {
      const text = typed(name + end).replaceAll(/[\s,]/g, "")
      if (text === "") continue
      const value = Number(text)
      if (!Number.isFinite(value)) errors[name + end] = "Enter a number."
      else if (name === "rank" && !(Number.isInteger(value) && value >= 1 && value <= 1_000))
        errors[name + end] = "Enter a whole rank, from 1 to 1,000."
      else given(name + end, value, `${label.split(",")[0]} ${end === "Min" ? "from" : "to"} ${text}`)
    }
  for (const [name, label] of TEXTS)
    if (typed(name) !== "") given(name, typed(name), `${label.split(" ")[0]}: ${typed(name)}`)
  if (query.get("estimates") === "yes") input.estimates = true
  const isEmpty = names.length === 0 && typed("country") === "" && Object.keys(errors).length === 0
  if (!values.has("country")) values.set("country", storefrontName(country))
  return {
    input,
    values,
    errors,
    isEmpty,
    names: [(countries as string[]).filter(Boolean).map(storefrontName).join(", "), ...names],
  }
}

/** Renders every filter of the finder as a field, with the values that were sent and the messages about them. */
export function finderForm(context: PageContext, { values, errors }: Filters): Html {
  const form: FormState = { id: "find-apps", values, errors }
  const ranges = RANGES.map(
    ([name, label]) =>
      html`<fieldset class="range"><legend>${label}</legend><div class="row">${textField(form, {
        name: `${name}Min`,
        label: "From",
      })}${textField(form, { name: `${name}Max`, label: "To" })}</div></fieldset>`,
  )
  return html`<form class="filters roomy" method="get" action="${marketAddress(context, "find")}">
${textField(form, {
  name: "country",
  label: "Storefronts, up to five",
  isWide: true,
})}${selectField(form, {
  name: "kind",
  label: "List",
  options: [["", "All"], ...KINDS.map((code) => [code, kindName(code)] as const)],
})}${textField(form, { name: "released", label: "First seen within months" })}${TEXTS.map(([name, label]) =>
  textField(form, { name, label, maxLength: 120, isWide: true }),
)}${ranges}${checkFields(form, {
  name: "genre",
  label: `Categories, up to ${MAX_GENRES}`,
  options: genreOptions(),
})}${checkFields(form, {
  name: "estimates",
  label: "Figures",
  options: [["yes", "Show estimated downloads, revenue and growth"]],
})}<div class="send"><button class="main" type="submit">Find apps</button>
<a class="button quiet" href="${marketAddress(context, "find")}">Clear</a></div></form>`
}
