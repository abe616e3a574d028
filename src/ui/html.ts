/** Markup that is safe to insert into a page unchanged. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type HtmlPart = Html | string | number | null | undefined | false | readonly HtmlPart[]

/** A template whose literal parts are markup. Values are escaped unless they are Html. */
export function html(markup: TemplateStringsArray, ...parts: HtmlPart[]): Html {
  let text = markup[0] as string
  for (let at = 0; at < parts.length; at++) text += rendered(parts[at]) + markup[at + 1]
  return new Html(text)
}

/** Escapes text for element content only, where quotes are allowed. */
export function elementText(text: string): Html {
  return new Html(text.replaceAll(/[&<>]/g, (char) => ENTITIES[char] as string))
}

/** Escapes text for element content or a quoted attribute. */
export function escapeHtml(text: string): string {
  if (!/[&<>"']/.test(text)) return text
  return text.replaceAll(/[&<>"']/g, (char) => ENTITIES[char] as string)
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

function rendered(part: HtmlPart): string {
  if (part instanceof Html) return part.text
  if (Array.isArray(part)) {
    let text = ""
    for (const item of part) text += rendered(item)
    return text
  }
  if (part === null || part === undefined || part === false) return ""
  return escapeHtml(String(part))
}
