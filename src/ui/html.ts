/** Markup that is safe to put into a page as it stands. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type HtmlPart = Html | string | number | null | undefined | false | readonly HtmlPart[]

/** A template whose strings are markup and whose values are escaped, unless they are Html themselves. */
export function html(markup: TemplateStringsArray, ...parts: HtmlPart[]): Html {
  let text = markup[0] as string
  for (let at = 0; at < parts.length; at++) text += rendered(parts[at]) + markup[at + 1]
  return new Html(text)
}

/** Text for use in an element alone, where quotes may stay as they are. */
export function elementText(text: string): Html {
  return new Html(text.replaceAll(/[&<>]/g, (char) => ENTITIES[char] as string))
}

/** Text for use in an element or in a quoted attribute. */
export function escapeHtml(text: string): string {
  if (!/[&<>"']/.test(text)) return text
  return text.replaceAll(/[&<>"']/g, (char) => ENTITIES[char] as string)
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

function rendered(part: HtmlPart): string {
  if (part instanceof Html) return part.text
  if (Array.isArray(part)) {
    let text = ""
    for (const one of part) text += rendered(one)
    return text
  }
  if (part === null || part === undefined || part === false) return ""
  return escapeHtml(String(part))
}
