import { type Operation, priceRange } from "../operation.ts"

/** What a call costs: "1 credit", "5 to 50 credits (5 a row)", "free of charge". */
export function priceText({ price }: Pick<Operation, "price">): string {
  const { min, atMost } = priceRange(price)
  if (atMost === 0) return "free of charge"
  const note = typeof price === "number" ? "" : ` (${price.note})`
  if (min !== atMost) return `${min} to ${atMost} credits${note}`
  return `${min} ${min === 1 ? "credit" : "credits"}${note}`
}

/** What a key needs for it: scope, plan, and what opens Hive. */
export function rightsText({ scope, terms, plan, hive }: Operation): string {
  const scopeText = terms ? "scope of the action" : scope ? `scope ${scope}` : "no scope needed"
  const rights = [scopeText, plan === undefined || plan === "free" ? "every plan" : `${plan} plan or above`]
  if (hive) rights.push(hive === "explorer" ? "Explorer" : "a credit pack or Explorer")
  return rights.join(" · ")
}

/** "/apps/:appId" as a reader knows it: "/apps/{appId}". */
export function shownPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, "{$1}")
}
