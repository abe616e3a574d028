import { ROLES, scopesOf } from "../access/people/roles.ts"
import { SCOPES } from "../access/scopes.ts"
import { CHANNEL_KINDS } from "../alerts/delivery/channel-kinds.ts"
import { type Operation, priceRange } from "../core/operation.ts"
import { LOG_EVENTS } from "../lib/log-events.ts"
import { settingGroups } from "../settings/settings.ts"
import type { DocumentedAction } from "./actions.ts"
import { shownPath } from "./terms.ts"

/** The table of settings with defaults and meanings. */
export function settingRows(): string {
  const tables = settingGroups().map(({ title, settings }) => {
    const rows = settings.map(({ name, fallback, meaning }) => [`\`${name}\``, fallback && `\`${fallback}\``, meaning])
    return `## ${title}\n\n${tableOf(["setting", "default", "meaning"], rows)}`
  })
  return tables.join("\n\n")
}

/** The table of log events with meanings. */
export function logRows(): string {
  const rows = Object.entries(LOG_EVENTS).map(([event, meaning]) => [`\`${event}\``, meaning])
  return tableOf(["event", "meaning"], rows)
}

/** The table of the kinds of channels. */
export function channelRows(): string {
  const rows = Object.entries(CHANNEL_KINDS).map(([kind, { title, fields, limit, ends }]) => {
    const entered = fields.map(({ label, isOptional }) => `${label}${isOptional ? " (optional)" : ""}`)
    return [title, `\`channel add ${kind}\``, entered.join(", "), limit, ends]
  })
  return tableOf(["channel", "command", "what you enter", "longest message", "ends with"], rows)
}

/** The table of API calls with prices and required plans. */
export function callRows(catalog: readonly Operation[]): string {
  const rows = catalog.map(({ method, path, price, plan = "free", terms }) => {
    const { min, atMost } = priceRange(price)
    const credits = min === atMost ? `${min}` : `${min} to ${atMost}`
    return [`\`${method} /v1${shownPath(path)}\``, credits, terms ? "that of the action" : plan]
  })
  return tableOf(["call", "credits", "plan"], rows)
}

/** The table of deprecations, or a sentence that there are none. */
export function deprecatedRows(catalog: readonly Operation[]): string {
  const rows = catalog.flatMap(({ id, deprecated, deprecatedInputs }) => {
    const inputs = [...deprecatedInputs].map(([name, deprecation]) => ({
      what: `\`${name}\` of \`${id}\``,
      ...deprecation,
    }))
    return [...(deprecated ? [{ what: `\`${id}\``, ...deprecated }] : []), ...inputs]
  })
  if (rows.length === 0) return "Nothing is deprecated now."
  const cells = rows.map(({ what, since, until, instead }) => [what, since, until, instead])
  return tableOf(["what", "since", "until", "instead"], cells)
}

/** The table of writes with prices and required scopes. */
export function actionRows(actions: readonly DocumentedAction[]): string {
  const rows = actions.map(({ name, credits, scope, plan, destructive }) => {
    return [`\`${name}\``, `${credits}`, `\`${scope}\``, plan, destructive ? "yes" : "no"]
  })
  return tableOf(["action", "credits", "scope", "plan", "destructive"], rows)
}

/** The table of roles: the calls and writes of each scope, and the roles that have it. */
export function roleRows(catalog: readonly Operation[], actions: readonly DocumentedAction[]): string {
  const rows = SCOPES.map((scope) => {
    const calls = catalog.filter((operation) => operation.scope === scope).map(({ id }) => id)
    const writes = actions.filter((action) => action.scope === scope).map(({ name }) => name)
    const has = ROLES.map((role) => (scopesOf(role).includes(scope) ? "yes" : "no"))
    return [`\`${scope}\``, [...calls, ...writes].map((name) => `\`${name}\``).join(", "), ...has]
  })
  return tableOf(["scope", "calls and writes", ...ROLES], rows)
}

function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [
    heads,
    heads.map(() => "---"),
    ...rows.map((cells) => cells.map((cell) => cell.replaceAll("|", "\\|"))),
  ]
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")
}
