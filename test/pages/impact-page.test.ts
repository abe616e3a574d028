import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import type { AnswerOf } from "../../src/answers.ts"
import { impactPart } from "../../src/consoles/page/impact.ts"
import type { PageContext } from "../../src/ui/app/context.ts"
import { answerLines } from "../../src/visibility/page/answer-text.ts"

type Impact = AnswerOf<"get_change_impact">

const sample: Impact = JSON.parse(
  readFileSync(new URL("../../fixtures/sandbox/get_change_impact.json", import.meta.url), "utf8"),
).answer

const context = { query: new URLSearchParams("at=us-ios") } as PageContext
const partText = (impact: Partial<Impact>) => impactPart({ ...sample, ...impact }, context).text

describe("before and after a change", () => {
  test.each([
    ["improved", "Keep the change"],
    ["worse", "Consider undoing the change"],
    ["no_clear_change", "The interval includes zero"],
    ["too_early", "Wait until the days after the change are over"],
    ["not_enough_data", "needs twenty windows before the change"],
    ["confounded", "Make one change at a time"],
    ["cannot_tell", "Change one storefront first"],
  ] as const)("the verdict %s is shown with the text “%s”", (verdict, advice) => {
    expect(partText({ verdict })).toContain(advice)
  })

  test("each figure with an effect is drawn as a point with its interval on a common scale around zero", () => {
    const text = partText({})
    expect(text.match(/<circle/g)).toHaveLength(2)
    expect(text).toContain('<rect class="zero" x="50%"')
    // a change of 30 % is drawn at a distance of 48 % of the width from the middle
    expect(text).toContain('<rect class="off" x="32.9%" y="40%" width="63.5%"')
    expect(text).toContain('cx="61.7%"')
    expect(text).toContain("90 % interval −10.7 % to +29 %")
  })

  test("a figure without an effect is listed with the reason and is not drawn as a point", () => {
    const outcomes = sample.outcomes.map((outcome) => ({
      ...outcome,
      verdict: "not_enough_data" as const,
      effectPercent: null,
      lowPercent: null,
      highPercent: null,
      earlierDays: 40,
      earlierNeeded: 140,
    }))
    const text = partText({ verdict: "not_enough_data", outcomes })
    expect(text).not.toContain("<circle")
    expect(text).toContain("40 of 140 earlier days are available")
  })
})

describe("answers of assistants", () => {
  const lines = (text: string) => answerLines(text).map((line) => line.text)

  test("Markdown in an answer becomes lines and bold words, and a link becomes its text", () => {
    expect(lines("## Apps\n1. **Tea** – see [the site](https://example.com/x).\n- __Calm__ too")).toEqual([
      "<bdi>Apps</bdi>",
      "<bdi>1. <strong>Tea</strong> – see the site.</bdi>",
      "<bdi><strong>Calm</strong> too</bdi>",
    ])
    expect(lines("1. **A**: one. 2. **B**: two.")).toHaveLength(2)
  })

  test("HTML in an answer is escaped, and a script link becomes its text", () => {
    expect(lines("**<img src=x onerror=alert(1)>** [a](javascript:alert(1)) **open")).toEqual([
      "<bdi>**&lt;img src=x onerror=alert(1)&gt;** a) **open</bdi>",
    ])
    expect(lines("[](data:text/html,x)")).toEqual([])
  })
})
