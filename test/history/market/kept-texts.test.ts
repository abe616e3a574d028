import { expect, test } from "bun:test"
import fc from "fast-check"
import { KeptTexts } from "../../../src/history/market/kept-texts.ts"

test("texts are kept as they were set last, those set longest ago go first, and never more than fit are kept", () => {
  const app = fc.integer({ min: 1, max: 9 })
  const step = fc.oneof(
    fc.record({ app, text: fc.string({ maxLength: 40 }) }),
    fc.record({ app, text: fc.constant(null) }),
  )
  const run = fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 0, max: 400 }), (steps, most) => {
    const kept = new KeptTexts(most)
    let model: [number, string][] = []
    for (const { app, text } of steps) {
      model = model.filter(([other]) => other !== app)
      if (text === null) kept.delete(app)
      else {
        model.push([app, text])
        kept.set(app, text)
      }
      while (model.reduce((sum, [, { length }]) => sum + length + 60, 0) > most) model.shift()
      for (let app = 1; app <= 9; app++) expect(kept.get(app)).toBe(new Map(model).get(app))
    }
    kept.clear()
    expect(model.map(([app]) => kept.get(app))).toEqual(model.map(() => undefined))
  })
  fc.assert(run, { seed: 20_261_126 })
})
