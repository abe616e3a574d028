import { type Operation, priceRange } from "../core/operation.ts"
import { describedSettings } from "../settings/settings.ts"
import type { DocumentedAction } from "./actions.ts"
import { shownPath } from "./terms.ts"

/** Every setting with its default and meaning. */
export function settingRows(): string {
  const rows = describedSettings().map(({ name, fallback, meaning }) => {
    return [`\`${name}\``, fallback && `\`${fallback}\``, meaning]
  })
  return tableOf(["setting", "default", "meaning"], rows)
}

/** Every call of the API with its price and the plan it needs. */
export function callRows(catalog: readonly Operation[]): string {
  const rows = catalog.map(({ method, path, price, plan = "free", terms }) => {
    const { min, atMost } = priceRange(price)
    const credits = min === atMost ? `${min}` : `${min} to ${atMost}`
    return [`\`${method} /v1${shownPath(path)}\``, credits, terms ? "that of the action" : plan]
  })
  return tableOf(["call", "credits", "plan"], rows)
}

/** What goes now, or that nothing does. */
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

/** Every write with its price and the right it needs. */
export function actionRows(actions: readonly DocumentedAction[]): string {
  const rows = actions.map(({ name, credits, scope, plan, destructive }) => {
    return [`\`${name}\``, `${credits}`, `\`${scope}\``, plan, destructive ? "yes" : "no"]
  })
  return tableOf(["action", "credits", "scope", "plan", "destructive"], rows)
}

function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [
    heads,
    heads.map(() => "---"),
    ...rows.map((cells) => cells.map((cell) => cell.replaceAll("|", "\\|"))),
  ]
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")
}
