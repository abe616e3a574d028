import { type Html, html } from "../../ui/html.ts"
import { shareLayout } from "./layout.ts"

/** A page with one heading and one paragraph. */
export function noticePage(title: string, text: string): string {
  return shareLayout(
    title,
    html`<main class="alone">
<h1>${title}</h1>
<p>${text}</p>
</main>`,
  )
}

/**
 * The page for a link that is unknown, expired or withdrawn. It is the same in each case, so that it does not reveal
 * which links existed.
 */
export function gonePage(): string {
  return noticePage(
    "Nothing is shared here",
    "This link does not exist, has expired or was withdrawn. Whoever sent it to you can make a new one.",
  )
}

/** Why a submitted password was not accepted. */
export type TryOutcome = "wrong" | "again" | { waitSeconds: number }

/**
 * Asks for the password of a link and does not reveal what the link shares. The form includes the ticket as a hidden
 * field.
 */
export function passwordPage({ outcome, ticket }: { outcome: TryOutcome | null; ticket: string }): string {
  const text = outcome && outcomeText(outcome)
  const notice: Html | false = text !== null && html`<p class="wrong" id="outcome" role="alert">${text}</p>\n`
  return shareLayout(
    outcome === null ? "Password needed" : outcome === "wrong" ? "Wrong password" : "Too many tries",
    html`<main class="alone">
<h1>This page has a password</h1>
<p>Whoever sent you the link can tell you the password.</p>
<form method="post">
${notice}<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="off" required${
      outcome !== null && html` aria-invalid="true" aria-describedby="outcome"`
    }>
<input type="hidden" name="ticket" value="${ticket}">
<button type="submit">Show the page</button>
</form>
</main>`,
  )
}

function outcomeText(outcome: TryOutcome): string {
  if (outcome === "wrong") return "That is not the password."
  if (outcome === "again") return "Many passwords are being tried here. Type it once more."
  const wait = outcome.waitSeconds === 1 ? "a second" : `${outcome.waitSeconds} seconds`
  return `Too many passwords were tried. Wait ${wait}, then type it again.`
}
