import { isRecord, ownValue } from "../lib/objects.ts"
import { storefrontName } from "../lib/storefront-names.ts"
import { type Html, type HtmlPart, html } from "./html.ts"
import { dayTime, momentTime } from "./times.ts"
import { counted, money, STORES, spoken, whole } from "./words.ts"

/** The state before and after a write, as a preview has it. */
interface Change {
  before: Record<string, unknown>
  after: Record<string, unknown>
}

interface ChangeRow {
  what: string
  now: HtmlPart
  next: HtmlPart
}

/**
 * A table of what a write changes, in words. Its columns are the name of the value, its present state and its new
 * state. False if the write changes nothing.
 */
export function changesPart(change: Change): Html | false {
  const rows = changeRows(change)
  if (rows.length === 0) return false
  return html`<table class="changes"><thead>
<tr><th scope="col">What</th><th scope="col">Now</th><th scope="col">Then</th></tr></thead>
<tbody>${rows.map(
    ({ what, now, next }) => html`<tr><th scope="row">${what}</th><td>${now}</td><td>${next}</td></tr>
`,
  )}</tbody></table>
`
}

function changeRows({ before, after }: Change): ChangeRow[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) => {
    if (name === "tracked") return keywordRows(before.tracked, after.tracked)
    if (name === "alerts") return alertRows(before, after)
    if (ALERT_DETAILS.has(name) && "alerts" in before) return []
    return fieldRows(name, "", before[name], after[name])
  })
}

interface KeywordGroup {
  countries: string[]
  keywords: string[]
}

/** One row for each set of storefronts in which the same keywords are added or removed. */
function keywordRows(before: unknown, after: unknown): ChangeRow[] {
  const was = keywordsByStorefront(before)
  const is = keywordsByStorefront(after)
  const storefronts = [...new Set([...was.keys(), ...is.keys()])]
  const changed = storefronts.flatMap((storefront) => {
    const old = was.get(storefront) ?? []
    const current = is.get(storefront) ?? []
    const added = current.filter((term) => !old.includes(term))
    const removed = old.filter((term) => !current.includes(term))
    return added.length + removed.length > 0 ? [{ storefront, added, removed }] : []
  })
  const alike = Map.groupBy(changed, ({ added, removed }) => JSON.stringify([added, removed]))
  return [...alike.values()].flatMap((group) => {
    const { added, removed } = group[0]!
    const where = group.map(({ storefront }) => storefrontName(storefront)).join(", ")
    return [
      ...(added.length > 0 ? [{ what: `Keywords, ${where}`, now: "not tracked", next: listText(added) }] : []),
      ...(removed.length > 0 ? [{ what: `Keywords, ${where}`, now: listText(removed), next: "not tracked" }] : []),
    ]
  })
}

function keywordsByStorefront(groups: unknown): Map<string, string[]> {
  const list = (groups ?? []) as readonly KeywordGroup[]
  return new Map(list.flatMap(({ countries, keywords }) => countries.map((country) => [country, keywords] as const)))
}

/** Fields in the state of alerts that do not get a row of their own, because the rows of the alerts show them. */
const ALERT_DETAILS = new Set(["digest", "read"])

function alertRows({ alerts, read: was }: Record<string, unknown>, { read: is }: Record<string, unknown>): ChangeRow[] {
  if (was === is) return []
  return (alerts as readonly { name: string | null; count: number }[]).map(({ name, count }) => ({
    what: name === null ? "Alerts of the workspace" : `Alerts of ${name}`,
    now: `${whole(count)} ${readWord(was)}`,
    next: readWord(is),
  }))
}

const readWord = (isRead: unknown) => (isRead ? "read" : "unread")

/** Returns the rows of a change: one for each differing field of a record, one for any other value. */
function fieldRows(name: string, path: string, was: unknown, is: unknown): ChangeRow[] {
  if (JSON.stringify(was) === JSON.stringify(is)) return []
  const what = CONTAINERS.has(name) ? path : [path, labelOf(name)].filter(Boolean).join(" · ")
  if (isGroup(was) || isGroup(is)) {
    const old = isGroup(was) ? was : {}
    const current = isGroup(is) ? is : {}
    const names = new Set([...Object.keys(old), ...Object.keys(current)])
    return [...names].flatMap((field) => fieldRows(field, what, old[field], current[field]))
  }
  if (isStores(was) || isStores(is)) return storeRows(what, was, is)
  return [{ what: what || labelOf(name), now: valueText(name, was), next: valueText(name, is) }]
}

/**
 * Returns whether a value is a record whose fields get a row each. Returns false for a record that represents a
 * single value, such as an amount of money.
 */
function isGroup(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && !isMoney(value)
}

function isMoney(value: unknown): value is { amount: string; currency: string } {
  return isRecord(value) && "amount" in value && "currency" in value
}

type StorePart = Record<string, unknown> & { platform: keyof typeof STORES }

function isStores(value: unknown): value is StorePart[] {
  return Array.isArray(value) && value.length > 0 && value.every((part) => isRecord(part) && "platform" in part)
}

function storeRows(path: string, was: unknown, is: unknown): ChangeRow[] {
  const old = isStores(was) ? was : []
  const current = isStores(is) ? is : []
  const platforms = new Set([...old, ...current].map(({ platform }) => platform))
  return [...platforms].flatMap((platform) => {
    const here = (parts: readonly StorePart[]) => parts.find((part) => part.platform === platform) ?? { platform }
    const group = (part: StorePart) => ({ ...part, platform: undefined })
    const name = [path, STORES[platform]].filter(Boolean).join(" · ")
    return fieldRows("store", name, group(here(old)), group(here(current)))
  })
}

/** Records whose name means nothing to a person. The name is omitted from the labels of their fields. */
const CONTAINERS = new Set(["app", "rule", "link", "shows", "export", "texts", "store", "stores", "state", "target"])

const LABELS: Readonly<Record<string, string>> = {
  androidPkg: "Google Play package",
  appId: "App",
  buried: "Buried keywords",
  channels: "Channels",
  charts: "Charts",
  countries: "Storefronts",
  country: "Storefront",
  days: "Days it is valid",
  dropBy: "Only drops of at least",
  from: "First day",
  hasPassword: "Password",
  hidden: "Hidden rivals",
  iosId: "App Store id",
  isOpen: "Language in the listing",
  keywordScope: "Which keywords",
  named: "Rivals added by hand",
  rivalScope: "Which rivals",
  storePage: "Store page",
  to: "Last day",
  type: "Alert",
}

const labelOf = (name: string) => ownValue(LABELS, name) ?? spoken(name)

/** Words for values of fields that have codes. */
const VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  keywordScope: { all: "All keywords", tagged: "Tagged keywords only" },
  rivalScope: { all: "All rivals", manual: "Rivals you added only" },
  channels: {
    telegram: "Telegram",
    slack: "Slack",
    webhook: "Webhook",
    ntfy: "ntfy",
    discord: "Discord",
    email: "Mail",
    teams: "Microsoft Teams",
  },
}

function valueText(name: string, value: unknown): HtmlPart {
  if (value === null || value === undefined || value === "") return html`<span class="quiet">none</span>`
  if (Array.isArray(value)) return value.length === 0 ? html`<span class="quiet">none</span>` : listOf(name, value)
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (typeof value === "number") return name === "dropBy" ? counted(value, "place") : whole(value)
  if (isMoney(value)) return money(value.amount, value.currency)
  if (typeof value === "string") return textOf(name, value)
  return String(value)
}

function listOf(name: string, values: readonly unknown[]): Html {
  return listText(values.map((value) => (typeof value === "string" ? textOf(name, value) : valueText("", value))))
}

function textOf(name: string, value: string): HtmlPart {
  const word = ownValue(VALUES, name)?.[value]
  if (word !== undefined) return word
  if (name === "country" || name === "countries") return storefrontName(value)
  if (name === "type" || name === "dataset" || name === "status") return spoken(value)
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return dayTime(value)
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return momentTime(value)
  return html`<bdi>${value}</bdi>`
}

const listText = (values: readonly HtmlPart[]) => html`${values.map((value, at) => html`${at > 0 && ", "}${value}`)}`
