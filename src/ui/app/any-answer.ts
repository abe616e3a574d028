import { isRecord } from "../../lib/objects.ts"
import { type Html, type HtmlPart, html } from "../html.ts"
import { dayTime, momentTime } from "../times.ts"
import { figure, money, spoken } from "../words.ts"

/**
 * Shows an answer as facts and tables, for operations without a page of their own. Sentences come first. Lists are
 * collapsed because their relevance is unknown here.
 */
export function answerPart({ sentence, ...answer }: Readonly<Record<string, unknown>>): Html {
  const entries = Object.entries(answer).filter(([, value]) => value !== null)
  const sentences = entries.filter(([, value]) => isSaid(value))
  const plain = entries.filter(([, value]) => !isNested(value) && !isSaid(value))
  const records = entries.filter(([, value]) => isNested(value) && !Array.isArray(value))
  const lists = entries.filter(([, value]) => isNested(value) && Array.isArray(value))
  return html`${typeof sentence === "string" && html`<p>${sentence}</p>`}${
    plain.length > 0 &&
    html`<dl class="facts">
${plain.map(([name, value]) => html`<div><dt>${spoken(name)}</dt><dd>${shown(value)}</dd></div>`)}</dl>`
  }${records.map(
    ([name, value]) => html`<h3>${spoken(name)}</h3>${answerPart(value as Record<string, unknown>)}`,
  )}${lists.map(
    ([name, value]) =>
      html`<details><summary>${spoken(name)} (${(value as unknown[]).length})</summary>
${nestedPart(name, value as unknown[])}</details>`,
  )}${sentences.map(
    ([name, value]) =>
      html`<h3>${spoken(name)}</h3><ul>${(value as string[]).map((line) => html`<li>${line}</li>`)}</ul>`,
  )}`
}

/** Returns whether the value is a list of sentences, which need the width of the page. */
function isSaid(value: unknown): boolean {
  return Array.isArray(value) && value.some((one) => typeof one === "string" && one.length > LONGEST_FACT)
}

const LONGEST_FACT = 60

const MAX_ROWS = 100
const MAX_COLUMNS = 9

function nestedPart(name: string, value: readonly unknown[]): Html {
  if (value.length === 0) return html`<p class="quiet">Nothing.</p>`
  const rows = value.filter(isRecord)
  if (rows.length === 0) return html`<p>${value.map((one, at) => html`${at > 0 && ", "}${shown(one)}`)}</p>`
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, MAX_COLUMNS)
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${spoken(name)}">
<table>${rows.length > MAX_ROWS && html`<caption>The first ${MAX_ROWS} of ${rows.length}</caption>`}<thead>
<tr>${columns.map((column) => html`<th scope="col">${spoken(column)}</th>`)}</tr></thead>
<tbody>${rows.slice(0, MAX_ROWS).map(
    (row) => html`<tr>${columns.map((column) => html`<td>${shown(row[column])}</td>`)}</tr>
`,
  )}</tbody></table></div>`
}

function shown(value: unknown): HtmlPart {
  if (value === null || value === undefined) return figure(null)
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (typeof value === "number") return figure(value, Number.isInteger(value) ? 0 : 2)
  if (Array.isArray(value)) return value.map((one, at) => html`${at > 0 && ", "}${shown(one)}`)
  if (isRecord(value)) return shownRecord(value)
  const text = String(value)
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return momentTime(text)
  if (/^[a-z]+(?:_[a-z]+)+$/.test(text)) return spoken(text).toLowerCase()
  return /^\d{4}-\d\d-\d\d$/.test(text) ? dayTime(text) : html`<bdi>${text}</bdi>`
}

/** Shows an amount with its currency as one value, and any other record by its fields. */
function shownRecord(value: Record<string, unknown>): HtmlPart {
  const { amount, currency } = value
  if (currency !== undefined && amount !== undefined) return money(String(amount), String(currency))
  return Object.entries(value).map(([name, one], at) => html`${at > 0 && ", "}${spoken(name)} ${shown(one)}`)
}

/** Returns whether the value is a record or a list of records, which need more than one line of facts. */
function isNested(value: unknown): boolean {
  return isRecord(value) ? !("amount" in value && "currency" in value) : Array.isArray(value) && value.some(isRecord)
}
