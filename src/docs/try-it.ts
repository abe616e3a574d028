import { type Operation, pathNames } from "../core/operation.ts"
import { jsonSchema, type Schema } from "../lib/schema.ts"
import { Html, html } from "../ui/html.ts"
import { shownPath } from "./terms.ts"

/** A call that the sandbox answers, with what it answers. */
export interface SampleCall {
  /** Below /v1, with its parameters filled in. */
  path: string
  /** Every argument, checked, by name. */
  input: Record<string, unknown>
  /** What it needs besides the path, as a caller sends it. */
  rest: Record<string, unknown>
  answer: Record<string, unknown>
}

/** A form that asks the sandbox. Without script it leads to the answer, with the ids of the sample in the path. */
export function tryForm({ id, path, input }: Operation, sample: SampleCall): Html {
  const inPath = pathNames(path)
  const fields = Object.keys(input.entries).map((name) =>
    inPath.includes(name)
      ? html`<label><code>${name}</code> <input data-path="${name}" value="${String(sample.input[name])}" readonly></label>\n`
      : html`<label><code>${name}</code> ${control(name, input.entries[name] as Schema, sample.rest[name])}</label>\n`,
  )
  return html`<details class="try"><summary>Try it</summary>
<form action="/v1/sandbox${sample.path}" data-path="/v1/sandbox${shownPath(path)}" aria-label="Try ${id}">
${fields}<button>Send</button>
</form></details>
`
}

/** Chooses whom the forms ask; shown where script runs. The key stays in the page's memory and goes with it. */
export function askingPart(): Html {
  return html`<fieldset id="asking" hidden><legend>Whom the forms of this page ask</legend>
<p><label><input type="radio" name="asked" value="sandbox" checked=""> The sandbox, without a key</label></p>
<p><label><input type="radio" name="asked" value="live"> This instance, with my key: calls cost what they say</label></p>
<form id="key-form"><label for="key">Key, kept in this page alone until it is closed</label>
<input id="key" type="password" autocomplete="off" spellcheck="false"></form>
<p id="asking-said" role="status"></p></fieldset>`
}

interface Field {
  type?: string
  enum?: unknown[]
  default?: unknown
}

function control(name: string, entry: Schema, value: unknown): Html {
  const { type, enum: listed, default: given } = jsonSchema(entry, "input") as Field
  // a form without script sends each field that has a name, and a parameter without a value is refused
  const named = value === undefined ? html`data-name="${name}"` : html`name="${name}"`
  const choices = listed ?? (type === "boolean" ? [true, false] : undefined)
  if (!choices) {
    const filled = value !== undefined && html` value="${String(value)}"`
    return html`<input ${named}${filled}${given !== undefined && html` placeholder="default: ${String(given)}"`}>`
  }
  const options = choices.map(
    (choice) => html`<option${choice === value && new Html(" selected")}>${String(choice)}</option>`,
  )
  return html`<select ${named}><option value="">${given === undefined ? "" : `default: ${given}`}</option>${options}</select>`
}
