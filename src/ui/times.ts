import { type Html, html } from "./html.ts"

/** Shows a UTC day as "20 Nov 2026", or as `written` formats it, in a <time> that programs can read. */
export function dayTime(day: string, written = longDay): Html {
  return html`<time datetime="${day}">${written(day)}</time>`
}

/** Shows an ISO moment as "20 Nov 2026, 14:05 UTC". */
export function momentTime(at: string): Html {
  return html`<time datetime="${at}">${longDay(at.slice(0, 10))}, ${at.slice(11, 16)} UTC</time>`
}

/** Returns "20 Nov". */
export function shortDay(day: string): string {
  return `${Number(day.slice(8, 10))} ${MONTHS[Number(day.slice(5, 7)) - 1]}`
}

function longDay(day: string): string {
  return `${shortDay(day)} ${day.slice(0, 4)}`
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
