import { type Html, html } from "./html.ts"

/** "20 Nov 2026" of a UTC day unless it is written otherwise, for people and programs. */
export function dayTime(day: string, written = longDay): Html {
  return html`<time datetime="${day}">${written(day)}</time>`
}

/** "20 Nov 2026, 14:05 UTC" of an ISO moment. */
export function momentTime(at: string): Html {
  return html`<time datetime="${at}">${longDay(at.slice(0, 10))}, ${at.slice(11, 16)} UTC</time>`
}

/** "20 Nov". */
export function shortDay(day: string): string {
  return `${Number(day.slice(8, 10))} ${MONTHS[Number(day.slice(5, 7)) - 1]}`
}

function longDay(day: string): string {
  return `${shortDay(day)} ${day.slice(0, 4)}`
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
