import { describe, expect, test } from "bun:test"
import { isStorable, randomText } from "../../src/lib/text.ts"
import { isRealDay } from "../../src/lib/time.ts"

describe("real days", () => {
  test.each(["2024-02-29", "2026-12-31", "2026-02-28T23:59:59Z"])("%s is a real day", (text) => {
    expect(isRealDay(text)).toBe(true)
  })
  test.each(["2026-02-29", "2026-02-30T00:00:00Z", "2026-04-31", "2026-13-01", "2026-00-10", "tomorrow", ""])(
    "%p is not a real day",
    (text) => expect(isRealDay(text)).toBe(false),
  )
})

test("a text with a NUL or an unpaired surrogate cannot be stored, and a text with a surrogate pair can", () => {
  expect(["a", "🌊", "", "\u0001"].map(isStorable)).toEqual([true, true, true, true])
  expect(["a\0", "\ud83c", "\udf0a\ud83c"].map(isStorable)).toEqual([false, false, false])
})

test("a random text skips bytes that would favour some letters, and draws new bytes for them", () => {
  const bytes = [255, 248, 0, 61, 62, 247]
  const lengths: number[] = []
  const text = randomText(4, (length) => {
    lengths.push(length)
    return new Uint8Array(bytes.splice(0, length))
  })
  expect([text, lengths]).toEqual(["0z0z", [4, 2]])
})
