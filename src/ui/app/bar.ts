import { addDays, type Days, dayNumber } from "../../lib/days.ts"
import { parseRival } from "../../lib/store-ids.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import { isRealDay } from "../../lib/time.ts"
import { type FormState, selectField, textField } from "../fields.ts"
import { type Html, html } from "../html.ts"
import { counted, STORES, sideName } from "../words.ts"
import {
  type AppHead,
  address,
  appAddress,
  KEPT,
  NOTICES,
  type PageContext,
  type Side,
  sideAt,
  sideCode,
  sidesOf,
} from "./context.ts"
import { hiddenFields } from "./write/form.ts"

/** The choices in the bar under the tabs. The address of the page contains them. */
export interface View {
  side: Side
  /** UTC days, inclusive. */
  days: Days
  /** The number of days of a preset period. Null if the person chose the days. */
  period: number | null
  /** The comparison of the view. Null if nothing is compared. */
  versus: Versus | null
  /** The fields of the bar as they were sent, with a message for each invalid field. */
  form: FormState
}

/** The comparison of the view: with an earlier period, another storefront, or an app of the store. */
type Versus =
  | { kind: "before"; days: Days; name: string }
  | { kind: "side"; side: Side; name: string }
  /** `rival` is "ios:<store id>". */
  | { kind: "rival"; rival: string; name: string }

const PERIODS = [7, 30, 90, 365] as const

/** Maximum number of days that can be chosen. */
const MAX_DAYS = 366

interface ViewOptions {
  /** The default period. */
  usual?: (typeof PERIODS)[number]
  /** The last day with data. If the period up to today has no data, it ends on this day instead. */
  lastDay?: string | null
  /**
   * True if the figures cover all storefronts together. Each can then be compared with that of a single storefront.
   */
  isOfAll?: boolean
}

/** Returns the choices in the address. Invalid days get a message, and the default period is shown instead. */
export function viewAt(
  context: PageContext,
  app: AppHead,
  { usual = 30, lastDay = null, isOfAll = false }: ViewOptions = {},
): View {
  const { query, today } = context
  const side = sideAt(app, query)
  const [from, to] = [query.get("from") ?? "", query.get("to") ?? ""]
  const errors = dayErrors({ from, to, today })
  const isChosen = (from !== "" || to !== "") && Object.keys(errors).length === 0
  const requested = Number(query.get("days"))
  const period = PERIODS.find((days) => days === requested) ?? usual
  const end = lastDay !== null && lastDay <= addDays(today, -period) ? lastDay : today
  const days = isChosen ? { from, to: to || today } : { from: addDays(end, 1 - period), to: end }
  return {
    side,
    days,
    period: isChosen ? null : period,
    versus: versusIn(query.get("vs") ?? "", app, { side: isOfAll ? null : side, days }),
    form: { id: "view", values: new URLSearchParams({ from: dateIn(from), to: dateIn(to) }), errors },
  }
}

/**
 * Returns the day for a date field. Empty if there is no such day, because a date field cannot show it; the message
 * quotes the text.
 */
const dateIn = (day: string) => (isRealDay(day) ? day : "")

/** Returns what is wrong with the chosen days, by field, and what is allowed. */
export function dayErrors({ from, to, today }: Days & { today: string }): Record<string, string> {
  const errors: Record<string, string> = {}
  const wrong = (day: string) => `“${day.slice(0, 30)}” is not a date. Write year, month and day, for example ${today}.`
  if (from !== "" && !isRealDay(from)) errors.from = wrong(from)
  if (to !== "" && !isRealDay(to)) errors.to = wrong(to)
  if (Object.keys(errors).length > 0 || (from === "" && to === "")) return errors
  if (from === "") return { from: "Choose the first day as well." }
  if (from > today) return { from: `This day lies in the future. Today is ${today} (UTC).` }
  if (to > today) return { to: `This day lies in the future. The last day is at most today, ${today} (UTC).` }
  const last = to || today
  if (from > last)
    return { from: `The first day is after the last, ${last}. Swap them, or choose an earlier first day.` }
  const days = dayNumber(last) - dayNumber(from) + 1
  const earliest = addDays(last, 1 - MAX_DAYS)
  if (days > MAX_DAYS)
    return {
      from: `You chose ${counted(days, "day")} of at most ${MAX_DAYS}. Choose a first day from ${earliest} on.`,
    }
  return errors
}

/**
 * Returns what the view is compared with. Null if the choice is unknown. `side` is null if the figures cover all
 * storefronts.
 */
function versusIn(text: string, app: AppHead, { side, days }: { side: Side | null; days: Days }): Versus | null {
  if (text === "before") {
    const length = dayNumber(days.to) - dayNumber(days.from) + 1
    const before = { from: addDays(days.from, -length), to: addDays(days.to, -length) }
    return { kind: "before", days: before, name: `${counted(length, "day")} before` }
  }
  const other = sidesOf(app).find((one) => sideCode(one) === text)
  if (other)
    return side !== null && sideCode(other) === sideCode(side)
      ? null
      : { kind: "side", side: other, name: sideName(other) }
  const rival = parseRival(text)
  return rival && rival.platform === side?.platform ? { kind: "rival", rival: text, name: rival.id } : null
}

interface BarOptions {
  /** Offers only storefronts of this store. */
  only?: "ios" | "android"
  /** True if the page is about all storefronts together. */
  isOfAll?: boolean
  /** True offers the stores of the app, for pages about all storefronts of one store. */
  hasStores?: boolean
  /** True if the page has no figures over time. */
  hasNoDays?: boolean
  /** Offers a comparison with the period before, with other storefronts and with these rivals. */
  compares?: { rivals: readonly { code: string; name: string }[] }
}

/**
 * Returns the bar under the tabs: storefront and store, period, and comparison. It is a form that works without script
 * and keeps the other parameters of the address.
 */
export function viewBar(context: PageContext, app: AppHead, view: View, options: BarOptions = {}): Html {
  const { only, isOfAll, hasStores = false, hasNoDays, compares } = options
  const ownFields = [
    "at",
    "page",
    "csv",
    "day",
    ...NOTICES,
    ...(hasNoDays ? [] : ["from", "to"]),
    ...(compares ? ["vs"] : []),
  ]
  const otherFields = [...context.query].filter(([name]) => !ownFields.includes(name))
  // the sample has a single storefront and store
  const sides = context.isSample ? [] : sidesOf(app).filter(({ platform }) => only === undefined || platform === only)
  const at = sideCode(view.side)
  const stores = hasStores ? storeChoices(context, app, view.side) : []
  const hasSides = sides.length > 1 && !isOfAll
  if (!hasSides && hasNoDays) return html``
  const choice = (label: string, options: [string, string][]) =>
    selectField({ id: "view", values: null, errors: {} }, { name: "at", label, value: at, options })
  return html`<form class="view" method="get" data-now="">${hiddenFields(otherFields)}${
    stores.length > 1
      ? choice("Store", stores)
      : hasSides
        ? choice(
            "Storefront",
            sides.map((side) => [sideCode(side), sideName(side)]),
          )
        : hiddenFields([["at", at]])
  }${!hasNoDays && daysPart(context, view)}${compares && versusField(app, view, { ...compares, isOfAll, only })}
<button type="submit" data-spare="">Show</button></form>
`
}

/** Returns the stores of the app, each with the storefront of the view. Empty for the sample. */
function storeChoices(context: PageContext, app: AppHead, { country }: Side): [string, string][] {
  const sides = context.isSample ? [] : sidesOf(app).filter((side) => side.country === country)
  return sides.map((side) => [sideCode(side), STORES[side.platform]])
}

/** Returns links for the periods, and fields for other days. */
function daysPart(context: PageContext, { period, form }: View): Html {
  const link = (days: number) => {
    const query = new URLSearchParams(context.query)
    for (const name of ["from", "to", "csv", ...NOTICES]) query.delete(name)
    query.set("days", String(days))
    const name = days === 365 ? "1 year" : `${days} days`
    const current = days === period && html` aria-current="true"`
    return html`<a href="${address(context.path)}?${query.toString()}"${current}>${name}</a>`
  }
  const field = (name: string, label: string) => textField(form, { name, label, type: "date" })
  const isOpen = period === null || Object.keys(form.errors).length > 0
  return html`<div class="field" data-days=""><span>Period</span>
<nav class="periods" aria-label="Period">${PERIODS.map(link)}</nav></div><details${
    isOpen && html` open=""`
  }><summary>Other days</summary><div>${field("from", "First day")}${field("to", "Last day")}
<button type="submit">Show days</button></div></details>`
}

function versusField(
  app: AppHead,
  { side, versus }: View,
  { rivals, isOfAll, only }: NonNullable<BarOptions["compares"]> & Pick<BarOptions, "isOfAll" | "only">,
): Html {
  const otherSides = sidesOf(app).filter(
    (other) => (only === undefined || other.platform === only) && (isOfAll || sideCode(other) !== sideCode(side)),
  )
  const chosen = versus === null ? "" : codeOf(versus)
  const options: [string, string][] = [
    ["", "Nothing"],
    ["before", "The period before"],
    ...otherSides.map((other): [string, string] => [
      sideCode(other),
      other.platform === side.platform ? storefrontName(other.country) : sideName(other),
    ]),
    ...rivals.map(({ code, name }): [string, string] => [code, name]),
  ]
  // a chosen rival stays in the list even if the page does not offer it
  if (versus && !options.some(([code]) => code === chosen)) options.push([chosen, versus.name])
  return selectField(
    { id: "view", values: null, errors: {} },
    { name: "vs", label: "Compare with", value: chosen, options },
  )
}

function codeOf(versus: Versus): string {
  return versus.kind === "before" ? "before" : versus.kind === "side" ? sideCode(versus.side) : versus.rival
}

/**
 * Returns by how many days the points of an earlier period must move to be drawn over the days of the view. 0 for other
 * comparisons.
 */
export function stepOf({ days, versus }: Pick<View, "days" | "versus">): number {
  return versus?.kind === "before" ? dayNumber(days.from) - dayNumber(versus.days.from) : 0
}

/** Returns the address of another page of the app with the choices of the bar. */
export function keptAddress(context: PageContext, app: Pick<AppHead, "id">, tab: string): string {
  const parameters = new URLSearchParams([...context.query].filter(([name]) => KEPT.includes(name)))
  const path = appAddress(context, app, tab)
  return parameters.size > 0 ? `${path}?${parameters}` : path
}
