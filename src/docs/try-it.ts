import { type Operation, pathNames } from "../core/operation.ts"
import { jsonSchema, type Schema } from "../lib/schema.ts"
import { Html, html } from "../ui/html.ts"
import { shownPath } from "./terms.ts"

/** A sandbox call with its answer. */
export interface SampleCall {
  /** Below /v1, with its parameters filled in. */
  path: string
  /** All checked arguments by name. */
  input: Record<string, unknown>
  /** The arguments that are not part of the path, as a caller sends them. */
  rest: Record<string, unknown>
  answer: Record<string, unknown>
}

/**
 * A form that calls the sandbox. Without script it opens the sample's answer, because its path has the ids of the
 * sample.
 */
export function tryForm({ id, path, input }: Operation, sample: SampleCall): Html {
  const inPath = pathNames(path)
  const fields = Object.keys(input.entries).map((name) => {
    const field = inPath.includes(name)
      ? html`<input data-path="${name}" value="${String(sample.input[name])}" readonly>`
      : control(name, input.entries[name] as Schema, sample.rest[name])
    return html`<label><code>${name}</code> ${field}</label>\n`
  })
  return html`<details class="try"><summary>Try it</summary>
<form action="/v1/sandbox${sample.path}" data-path="/v1/sandbox${shownPath(path)}" aria-label="Try ${id}">
${fields}<button>Send</button>
</form></details>
`
}

/**
 * A field that sets where the forms of the page send their calls. It is visible only with script. The key exists only
 * in the page's memory.
 */
export function askingPart(): Html {
  return html`<fieldset id="asking" hidden><legend>Target of the forms on this page</legend>
<p><label><input type="radio" name="target" value="sandbox" checked=""> Sandbox, without a key</label></p>
<p><label><input type="radio" name="target" value="live"> This instance, with your key: calls cost credits</label></p>
<form id="key-form"><label for="key">Key, kept only in this page until you leave it</label>
<input id="key" type="password" autocomplete="off" spellcheck="false"></form>
<p id="asking-status" role="status"></p></fieldset>`
}

interface Field {
  type?: string
  enum?: unknown[]
  default?: unknown
}

function control(name: string, entry: Schema, value: unknown): Html {
  const { type, enum: listed, default: given } = jsonSchema(entry, "input") as Field
  // without script a form sends every field that has a name, and an empty parameter would be refused
  const named = value === undefined ? html`data-name="${name}"` : html`name="${name}"`
  const choices = listed ?? (type === "boolean" ? [true, false] : undefined)
  if (!choices) {
    const filled = value !== undefined && html` value="${String(value)}"`
    return html`<input ${named}${filled}${given !== undefined && html` placeholder="default: ${String(given)}"`}>`
  }
  const options = choices.map(
    (choice) => html`<option${choice === value && new Html(" selected")}>${String(choice)}</option>`,
  )
  const none = given === undefined ? "" : `default: ${given}`
  return html`<select ${named}><option value="">${none}</option>${options}</select>`
}
