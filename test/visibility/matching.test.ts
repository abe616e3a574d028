import { expect, test } from "bun:test"
import { matchLabelled } from "./labelled-answers.ts"

test("apps in 200 labelled answers are found with a precision of at least 0.98 and a recall of at least 0.90", () => {
  const { answers, right, wrong, missed, off } = matchLabelled()
  if (process.env.SHOW) console.log(off.join("\n"))
  expect(answers).toBe(200)
  expect(right / (right + wrong)).toBeGreaterThanOrEqual(0.98)
  expect(right / (right + missed)).toBeGreaterThanOrEqual(0.9)
})
