import { AppId } from "../lib/fields.ts"
import { type ObjectSchema, type Schema, unwrap } from "../lib/schema.ts"
import { type Html, html } from "../ui/html.ts"
import { argumentList } from "./arguments.ts"
import { KEY_HEADER, postLine, quoted } from "./call-lines.ts"

/** A write of POST /actions, with the texts and figures that its documentation needs. */
export interface DocumentedAction {
  name: string
  summary: string
  description?: string
  credits: number
  scope: string
  /** The lowest plan that allows the write. */
  plan: string
  destructive: boolean
  /** Set if a job sends the write to another platform after the confirm. */
  outside?: object
  args: ObjectSchema
  /**
   * Sample arguments. In the commands that the page shows, an app id is replaced by that of one of the reader's own
   * apps.
   */
  example: Record<string, unknown>
}

/** Lists the writes, each with its arguments and two commands that preview and confirm it. */
export function actionsPart(actions: readonly DocumentedAction[], publicUrl: string): Html {
  return html`<h2 id="actions">Actions</h2>
<p>These are the actions of <code>POST /actions</code>. A preview changes nothing and costs nothing. It returns the
changes and a <code>confirmToken</code>, which is valid for one confirm with the same key within 10 minutes. The credits
are those of the confirm; a confirm that changes nothing is free. If a job writes to an outside platform, the confirm
returns a <code>jobId</code> for <code>GET /jobs/{jobId}</code>.</p>
<p>The commands need a live key in <code>$APPMETER_KEY</code>. The first command of each pair prints the preview and
stores it in the shell. The second confirms it, which writes. Commands about an app use the first app of the workspace,
which this command looks up (1 credit):</p>
<div class="code"><pre>${appLine(publicUrl)}</pre></div>
${actions.map((action) => actionPart(action, publicUrl))}`
}

function actionPart(action: DocumentedAction, publicUrl: string): Html {
  const { name, summary, description, credits, scope, plan, destructive, outside, args, example } = action
  const facts = [
    credits === 0 ? "free of charge" : `${credits} ${credits === 1 ? "credit" : "credits"}`,
    `scope ${scope}`,
    plan === "free" ? "every plan" : `${plan} plan or above`,
    destructive ? "destructive" : "not destructive",
    ...(outside ? ["run by a job"] : []),
  ]
  return html`<section id="${name}">
<div class="explained">
<h3><a href="#${name}"><code>${name}</code></a></h3>
<p>${summary}${description && html` ${description}`}</p>
<p class="quiet">${facts.join(" · ")}</p>
${argumentList(args, { id: name, examples: example })}</div>
<div class="shown">
<div class="code"><pre>${previewLine(action, publicUrl)}</pre></div>
<div class="code"><pre>${confirmLine(publicUrl)}</pre></div>
</div></section>
`
}

/** Stores the id of the workspace's first app in $APP_ID. */
function appLine(publicUrl: string): string {
  const first = `grep -o '"id":"app_[^"]*"' | head -n 1 | cut -d '"' -f 4`
  return `APP_ID=$(curl -s ${KEY_HEADER} ${quoted(`${publicUrl}/v1/apps`)} | ${first})`
}

/** Stores the answer in $PREVIEW and prints it. */
function previewLine({ name, args, example }: DocumentedAction, publicUrl: string): string {
  const replaced = Object.entries(example).map(([field, value]) => [field, isAppId(args, field) ? OWN_APP : value])
  const body = quoted(JSON.stringify({ action: name, args: Object.fromEntries(replaced) }))
  // closes and reopens the single quotes, so that the shell expands the variable
  const filled = body.replaceAll(JSON.stringify(OWN_APP), `"'"${OWN_APP}"'"`)
  return `PREVIEW=$(${postLine(`${publicUrl}/v1/actions`, filled, "-s ")}); printf '%s\\n' "$PREVIEW"`
}

const OWN_APP = "$APP_ID"

/**
 * Extracts the token from $PREVIEW. Quotes in the preview's own text are escaped, so that text cannot match the token.
 */
function confirmLine(publicUrl: string): string {
  const token = `$(printf '%s' "$PREVIEW" | sed -n 's/.*"confirmToken":"\\([^"]*\\)".*/\\1/p')`
  return postLine(`${publicUrl}/v1/actions/confirm`, `'{"confirmToken":"'"${token}"'"}'`, "-s ")
}

function isAppId({ entries }: ObjectSchema, field: string): boolean {
  return unwrap(entries[field] as Schema) === AppId
}
