import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { html } from "../../src/ui/html.ts"
import { layout } from "../../src/ui/layout.ts"
import { cases, slow } from "../long.ts"
import { readMarkup } from "../pages/markup.ts"

describe("a template", () => {
  test("a template escapes every value that is not markup", () => {
    expect(html`<p title="${`"'`}">${"<b>&amp;"}</p>`.text).toBe('<p title="&quot;&#39;">&lt;b&gt;&amp;amp;</p>')
    expect(html`<p>${html`<b>${"<"}</b>`}</p>`.text).toBe("<p><b>&lt;</b></p>")
  })

  test("a template joins the items of an array, shows 0 and leaves out missing values", () => {
    expect(html`${[1, [html`<i>2</i>`, "3"]]}${0}${null}${undefined}${false}`.text).toBe("1<i>2</i>30")
  })

  slow("a random text in a template opens no tag and does not leave its attribute", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const page = layout(text, text, html`<p id="here">${text}</p>`)
        const { unbalanced, tags, attributes, bare, ids } = readMarkup(page)
        expect({ unbalanced, bare, ids }).toEqual({ unbalanced: [], bare: [], ids: ["text", "here"] })
        expect([...tags, ...attributes].filter((name) => !PLAIN.includes(name))).toEqual([])
      }),
      { numRuns: cases(250, 500), seed: 20_261_121 },
    )
  })
})

const PLAIN = (
  "html head meta title link body header nav div a svg path main h1 p lang charset name content rel href id class " +
  "aria-label aria-hidden viewBox width height fill d button script type hidden"
).split(" ")

test("the markup check used by page tests finds invalid markup", () => {
  expect(readMarkup("<p><b></p>").unbalanced).not.toEqual([])
  expect(readMarkup("<p>").unbalanced).toEqual(["p"])
  expect(readMarkup("<p>a < b</p>").bare).toHaveLength(1)
  expect(readMarkup('<p onclick="x()">a</p>').attributes).toEqual(new Set(["onclick"]))
})
