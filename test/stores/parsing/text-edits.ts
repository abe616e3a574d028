import type { As } from "./islands.ts"
import { pick, type Random } from "./mutations.ts"

/** Returns the body with one edit of its text: cut, doubled or garbled. In XML, tags and entities are edited too. */
export function editedText(body: string, as: As, random: Random, editNames: string[]): string {
  if (as === "xml" && random() < 0.8) {
    let edited = body
    for (let edits = 1 + Math.floor(random() * 3); edits > 0; edits--) edited = editedXml(edited, random, editNames)
    return edited
  }
  const [name, edit] = pick(random, as === "html-json" ? [...ANY, ...HTML, ...HTML] : ANY)
  editNames.push(name)
  return edit(body, random)
}

type Edit = [name: string, edit: (body: string, random: Random) => string]

const place = (body: string, random: Random) => Math.floor(random() * (body.length + 1))

const ANY: Edit[] = [
  ["nothing left", () => ""],
  ["white space left", () => " \n\t"],
  ["cut short", (body, random) => body.slice(0, place(body, random))],
  ["its end left", (body, random) => body.slice(place(body, random))],
  [
    "a part gone",
    (body, random) => {
      const from = place(body, random)
      return body.slice(0, from) + body.slice(from + Math.floor(random() * 400))
    },
  ],
  [
    "a part doubled",
    (body, random) => {
      const from = place(body, random)
      return body.slice(0, from + Math.floor(random() * 400)) + body.slice(from)
    },
  ],
  [
    "one character other",
    (body, random) => {
      const from = place(body, random)
      return (
        body.slice(0, from) +
        pick(random, ['"', "{", "}", "[", "]", ",", "<", ">", "&", "\\", "\0", "9", "\ud83d", "é"]) +
        body.slice(from + 1)
      )
    },
  ],
  ["a mark before it", (body) => `\ufeff${body}`],
  ["twice", (body) => body + body],
  ["in a page", (body) => `<!doctype html><html><body><pre>${body}</pre></body></html>`],
  ["quotes as entities", (body) => body.replaceAll('"', "&quot;")],
  ["ampersands doubled", (body) => body.replaceAll("&", "&amp;")],
  ["only ASCII left", (body) => body.replace(/[^\x20-\x7e\n]/g, "\ufffd")],
  [
    "one digit other",
    (body, random) => {
      const from = place(body, random)
      return body.slice(0, from) + body.slice(from).replace(/\d/, (digit) => String((Number(digit) + 3) % 10))
    },
  ],
]

const HTML: Edit[] = [
  ["scripts not closed", (body) => body.replaceAll("</script>", "")],
  ["one script not closed", (body, random) => replaceOne(body, /<\/script>/g, "", random)],
  ["one script less", (body, random) => replaceOne(body, /<script\b[^>]*>[\s\S]*?<\/script>/g, "", random)],
  ["one script twice", (body, random) => replaceOne(body, /<script\b[^>]*>[\s\S]*?<\/script>/g, "$&$&", random)],
  ["scripts of another type", (body) => body.replaceAll("application/json", "text/plain")],
  ["scripts of single quotes", (body) => body.replace(/<script [^>]*>/g, (tag) => tag.replaceAll('"', "'"))],
  ["one attribute less", (body, random) => replaceOne(body, /\s[a-z-]+="[^"]*"/g, "", random)],
  ["one attribute other", (body, random) => replaceOne(body, /="[^"]*"/g, '="x"', random)],
  [
    "one script in a comment",
    (body, random) => replaceOne(body, /<script\b[^>]*>[\s\S]*?<\/script>/g, "<!--$&-->", random),
  ],
  ["one script split", (body, random) => replaceOne(body, /<script\b[^>]*>/g, "$&</script>$&", random)],
]

function replaceOne(body: string, what: RegExp, by: string, random: Random): string {
  const found = [...body.matchAll(what)]
  if (found.length === 0) return body
  const { 0: text, index } = pick(random, found)
  return body.slice(0, index) + by.replaceAll("$&", () => text) + body.slice(index + text.length)
}

const TOKEN = /<[^>]*>|[^<]+/g

/** Returns XML with a tag or text removed, doubled, renamed, swapped or garbled. */
function editedXml(body: string, random: Random, editNames: string[]): string {
  const tokens: string[] = [...(body.match(TOKEN) ?? [])]
  if (tokens.length === 0) return body
  const at = Math.floor(random() * tokens.length)
  const other = Math.floor(random() * tokens.length)
  const token = tokens[at] as string
  const [name, edited] = pick<[string, () => string[]]>(random, [
    ["removed", () => tokens.toSpliced(at, 1)],
    ["doubled", () => tokens.toSpliced(at, 0, token)],
    ["swapped", () => tokens.with(at, tokens[other] as string).with(other, token)],
    ["and more removed", () => tokens.toSpliced(at, 1 + Math.floor(random() * 12))],
    ["and more doubled", () => tokens.toSpliced(at, 0, ...tokens.slice(at, at + 12))],
    ["garbled", () => tokens.with(at, garbled(token, random))],
    ["garbled", () => tokens.with(at, garbled(token, random))],
  ])
  editNames.push(`${token.slice(0, 40)} ${name}`)
  return edited().join("")
}

function garbled(token: string, random: Random): string {
  if (token.startsWith("<")) {
    return pick(random, [
      token.replace(/\w+/, "string"),
      token.replace(/\w+/, "dict"),
      token.replace(/\w+/, "x"),
      token.toUpperCase(),
      token.replace(">", " a='b>c'>"),
      token.replace(">", "/>"),
      token.slice(0, -1),
      token.replace("<", "&lt;"),
    ])
  }
  return pick(random, [
    "",
    `<![CDATA[${token}]]>`,
    `${token}&amp;`,
    `&#x41;${token}`,
    `${token}&#0;`,
    `${token}&nope;`,
    `&#1114112;${token}`,
    token.replaceAll("&", "&amp;"),
    `${token}\0`,
    token.repeat(100),
    token.toUpperCase(),
    `<!-- ${token} -->`,
    ` ${token} `,
    "term",
    "url",
    "hints",
    token.slice(0, Math.floor(token.length / 2)),
  ])
}
