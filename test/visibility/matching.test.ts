import { expect, test } from "bun:test"
import { matchLabelled } from "./labelled-answers.ts"

test("in 200 labelled answers apps are found with a precision of 0.98 and a recall of 0.90 at least", () => {
  const { answers, right, wrong, missed, off } = matchLabelled()
  if (process.env.SHOW) console.log(off.join("\n"))
  expect(answers).toBe(200)
  expect(right / (right + wrong)).toBeGreaterThanOrEqual(0.98)
  expect(right / (right + missed)).toBeGreaterThanOrEqual(0.9)
})
