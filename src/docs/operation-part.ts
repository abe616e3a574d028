import { creditsText, type Operation, pathNames } from "../core/operation.ts"
import { FAULTS, type FaultCode, UNIVERSAL_FAULTS } from "../lib/faults.ts"
import { deprecationText } from "../lib/schema.ts"
import { elementText, type Html, html } from "../ui/html.ts"
import { answerFields } from "./answer-fields.ts"
import { argumentList } from "./arguments.ts"
import { callLines, type TypedCall } from "./call-lines.ts"
import { codeLinks } from "./fault-link.ts"
import { sampleJson } from "./sample-json.ts"
import { FREE, rightsText, shownPath } from "./terms.ts"
import { type SampleCall, tryForm } from "./try-it.ts"

interface OperationPart {
  sample: SampleCall
  /** Every error code that a call can return. */
  faults: readonly FaultCode[]
  publicUrl: string
}

/** Documents one operation: the text on one side, calls and samples on the other. */
export function operationPart(operation: Operation, { sample, faults, publicUrl }: OperationPart): Html {
  const { id, method, path, summary, description, input, output } = operation
  const get = method === "GET"
  const shownSample = sampleJson(sample.answer, get ? SHORT : undefined)
  return html`<section id="${id}">
<div class="explained">
<h3><a href="#${id}"><span class="method ${method}">${method}</span> <code>${shownPath(path)}</code></a></h3>
<p>${summary}${description && html` ${description}`}</p>
<p class="quiet"><code>${id}</code> · ${creditsText(operation.price, FREE)} · ${rightsText(operation)}</p>
${
  operation.deprecated &&
  html`<p><strong>${deprecationText(operation.deprecated)}</strong></p>
`
}${argumentList(input, { id, inPath: pathNames(path), examples: sample.input })}
${outcomes(operation, faults)}
${operation.table && TABLE}${answerFields(id, output)}</div>
<div class="shown">
${callLines(id, typedCall(operation, sample, publicUrl))}
<details open=""><summary>Sample answer</summary>
<div class="code"><pre class="answer" tabindex="0">${elementText(shownSample)}</pre></div></details>
${get && tryForm(operation, sample)}</div></section>
`
}

const TABLE = html`<p>With a key, <code>accept: text/csv</code> or <code>application/jsonl</code> returns its rows. An
object within a row becomes several columns, a list becomes one cell.</p>
`

/** Samples are shortened, because the reader can press a button that runs the call and shows the whole answer. */
const SHORT = { entries: 2, characters: 120 }

function outcomes({ pending }: Operation, faults: readonly FaultCode[]): Html {
  const universal: readonly FaultCode[] = UNIVERSAL_FAULTS
  const specific = faults.filter((code) => !universal.includes(code))
  const statuses = [...new Set(specific.map((code) => FAULTS[code].status))].sort((a, b) => a - b)
  const refusals = statuses.map((status) => {
    return html`; ${status} ${codeLinks(specific.filter((code) => FAULTS[code].status === status))}`
  })
  const running = pending && " or, while work is in progress, 202"
  return html`<p>Answers 200${running}${refusals}; and <a href="/docs#any-call">the errors of every call</a>.</p>`
}

/** Returns the sample call. A GET works in the sandbox as pasted. The sandbox has no POST, so a POST needs a key. */
function typedCall({ method }: Operation, { path, rest }: SampleCall, publicUrl: string): TypedCall {
  if (method === "POST") return { url: `${publicUrl}/v1${path}`, body: rest }
  const query = new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, String(value)])).toString()
  return { url: `${publicUrl}/v1/sandbox${path}${query && `?${query}`}` }
}
