import { describe, expect, test } from "bun:test"
import { renderMarkdown } from "../../src/docs/markdown.ts"
import { readMarkup } from "../pages/markup.ts"

const rendered = (text: string) => renderMarkdown(`# T\n\n${text}`, (target) => target)
const bodyOf = (text: string) => rendered(text).body.text.trim()

describe("the manual's Markdown", () => {
  test("Markdown becomes headings with anchors, paragraphs, lists, code and tables", () => {
    expect(bodyOf("One\ntwo.\n\n## Where `it` is\n\n### More")).toBe(
      '<p>One\ntwo.</p>\n<h2 id="where-it-is">Where <code>it</code> is</h2>\n<h3 id="more">More</h3>',
    )
    expect(bodyOf("- a\n  goes on\n- **b** and `c`")).toBe(
      "<ul>\n<li>a\ngoes on</li>\n<li><b>b</b> and <code>c</code></li>\n</ul>",
    )
    expect(bodyOf("1. a\n2. b")).toBe("<ol>\n<li>a</li>\n<li>b</li>\n</ol>")
    expect(bodyOf("```sh\na\n\n# no heading\n```\n\nAfter")).toBe("<pre>a\n\n# no heading</pre>\n<p>After</p>")
    const table = '<table tabindex="0">\n<thead><tr><th>x</th><th>y</th></tr></thead>\n<tbody>\n'
    expect(bodyOf("| x | y |\n| --- | --- |\n| 1 | `a\\|b` |\n| | [l](/docs) |")).toBe(
      `${table}<tr><td>1</td><td><code>a|b</code></td></tr>\n<tr><td></td><td><a ` +
        `href="/docs">l</a></td></tr>\n</tbody>\n</table>`,
    )
  })

  test("a page has a title and a first paragraph without markup, and renders without either", () => {
    const page = renderMarkdown("# A `t`\n\n- list\n\nThe **first** [one](x.md)\nof two.\n\nNext.", (target) => target)
    expect([page.title, page.summary]).toEqual(["A t", "The first one of two."])
    expect(renderMarkdown("", (target) => target)).toMatchObject({ title: "", summary: "" })
  })

  test("Markdown escapes all text in every position", () => {
    const hostile = `<script>alert("1")</script>&'`
    for (const text of [
      hostile,
      `## ${hostile}`,
      `- ${hostile}`,
      `| ${hostile} |\n|---|\n| ${hostile} |`,
      `\`${hostile}\``,
      `**${hostile}**`,
      `\`\`\`\n${hostile}\n\`\`\``,
      `[${hostile}](/x"onclick="y)`,
    ]) {
      const { tags, bare, unbalanced, attributes } = readMarkup(bodyOf(text))
      expect([text, tags.has("script"), bare, unbalanced, attributes.has("onclick")]).toEqual([
        text,
        false,
        [],
        [],
        false,
      ])
    }
  })
})
