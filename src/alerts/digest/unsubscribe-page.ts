import type { Gate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import type { PageAnswer } from "../../ui/answer.ts"
import { type HtmlPart, html } from "../../ui/html.ts"
import { layout, pagePolicy } from "../../ui/layout.ts"
import type { PageRoute } from "../../ui/routes.ts"
import { spoken } from "../../ui/words.ts"
import { readUnsubscribe, UNSUBSCRIBE, unsubscribe } from "./unsubscribe.ts"

interface UnsubscribeParts {
  sql: Sql
  /** The gate for writes without a key, which limits them by address. */
  visitorGate: (address: string | null) => Pick<Gate, "run">
}

/**
 * Serves the page of the link in a mail. Opening it changes nothing, because programs that check links for malware open
 * them too. Its button and a mail program's own button send the same POST (RFC 8058), which needs no sign-in.
 */
export function unsubscribeRoute({ sql, visitorGate }: UnsubscribeParts): PageRoute {
  return {
    path: `${UNSUBSCRIBE}:token`,
    methods: ["GET", "HEAD", "POST"],
    async open({ request, path, address }) {
      const token = path.slice(UNSUBSCRIBE.length)
      if (!/^[\w-]{43}$/.test(token)) return page(404, "This link is not valid", UNKNOWN)
      const gate = visitorGate(address)
      if (request.method !== "POST") {
        const found = await gate.run(() => readUnsubscribe(sql, token))
        if (!found) return page(404, "This link is not valid", UNKNOWN)
        return page(
          200,
          "Stop this mail?",
          html`<p>You get ${found.kind} of the workspace <strong><bdi>${found.workspace}</bdi></strong> by mail.</p>
<form method="post" action="${path}"><input type="hidden" name="List-Unsubscribe" value="One-Click">
<button type="submit">Stop this mail</button></form>
`,
        )
      }
      const ended = await gate.run(() => unsubscribe(sql, token))
      if (!ended) return page(404, "This link is not valid", UNKNOWN)
      return page(
        200,
        `You get no more ${ended.kind}`,
        html`<p>${spoken(ended.kind)} of the workspace <strong><bdi>${ended.workspace}</bdi></strong> are not mailed to
you any more. ${AGAIN[ended.kind]}</p>
`,
      )
    },
  }
}

const AGAIN = {
  summaries: html`You can turn them on again in your <a href="/app/settings/mail">mail settings</a>.`,
  alerts: "An owner of the workspace can add you again.",
}

const UNKNOWN = html`<p>It is incomplete, or you are no member of its workspace any more. Then no mail comes either.
Otherwise turn the mail off in your <a href="/app/settings/mail">mail settings</a>.</p>
`

const POLICY = pagePolicy({ forms: ["'self'"] })

function page(status: number, title: string, body: HtmlPart): PageAnswer {
  const headers = { "content-security-policy": POLICY, "referrer-policy": "no-referrer" }
  return { status, body: layout(title, title, body), headers }
}
