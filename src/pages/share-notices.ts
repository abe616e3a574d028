import { type Html, html } from "./html.ts"
import { shareLayout } from "./share-layout.ts"

/** A page of one heading and what there is to say. */
export function noticePage(title: string, text: string): string {
  return shareLayout(
    title,
    html`<main class="alone">
<h1>${title}</h1>
<p>${text}</p>
</main>`,
  )
}

/** The same for a link that never was, one that is over and one that was withdrawn. */
export function gonePage(): string {
  return noticePage(
    "Nothing is shared here",
    "This link does not exist, has expired or was withdrawn. Whoever sent it to you can make a new one.",
  )
}

/** Asks for the password of a link, and says nothing of what is behind it. */
export function passwordPage({ wrong }: { wrong: boolean }): string {
  const said: Html | false = wrong && html`<p class="wrong" id="wrong" role="alert">That is not the password.</p>\n`
  return shareLayout(
    wrong ? "Wrong password" : "Password needed",
    html`<main class="alone">
<h1>This page has a password</h1>
<p>Whoever sent you the link can tell you the password.</p>
<form method="post">
${said}<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="off" required${wrong && html` aria-invalid="true" aria-describedby="wrong"`}>
<button type="submit">Show the page</button>
</form>
</main>`,
  )
}
