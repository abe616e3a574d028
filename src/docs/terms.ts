import { type Operation, priceRange } from "../core/operation.ts"

/** The text that a free call has as its price. */
export const FREE = "free of charge"

/** Returns the rights that a key needs: scope, plan, and what gives access to Hive. */
export function rightsText({ scope, terms, plan, hive }: Operation): string {
  const scopeText = terms ? "scope of the action" : scope ? `scope ${scope}` : "no scope needed"
  const rights = [scopeText, plan === undefined || plan === "free" ? "every plan" : `${plan} plan or above`]
  if (hive) rights.push(hive === "explorer" ? "Explorer" : "a credit pack or Explorer")
  return rights.join(" · ")
}

/** Returns every operation on one line, as `appmeter openapi --table` prints it. */
export function catalogTable(catalog: readonly Operation[]): string {
  const rows = catalog.map(({ id, method, path, price, plan = "free", scope, terms, effect }) => {
    const { min, atMost } = priceRange(price)
    const credits = min === atMost ? String(min) : `${min}-${atMost}`
    return [method, `/v1${shownPath(path)}`, credits, plan, terms ? "of the action" : (scope ?? "-"), effect, id]
  })
  const table = [["METHOD", "PATH", "CREDITS", "PLAN", "SCOPE", "EFFECT", "ID"], ...rows]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  const line = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ")
  return table.map((row) => `${line(row).trimEnd()}\n`).join("")
}

/** Converts a path parameter to its documented form: "/apps/:appId" becomes "/apps/{appId}". */
export function shownPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, "{$1}")
}
