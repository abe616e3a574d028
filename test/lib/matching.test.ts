import { expect, test } from "bun:test"
import { foldText, GRADES, gradeOf, toSearchText } from "../../src/lib/matching.ts"

const grade = (query: string, texts: string[], ids: string[] = []) => {
  const found = gradeOf(toSearchText(query), ids, texts)
  return found === null ? null : GRADES[found]
}

test("a match is graded exact, prefix, word start or anywhere, and every word of the query must occur", () => {
  expect(grade(" Photo EDITOR ", ["photo editor"])).toBe("exact")
  expect(grade("photo ed", ["Photo Editor"])).toBe("prefix")
  expect(grade("editor photo", ["Photo-Editor Pro"])).toBe("word start")
  expect(grade("edit", ["Photo (Editor)"])).toBe("word start")
  expect(grade("hoto", ["Photo Editor"])).toBe("anywhere")
  expect(grade("photo itor", ["Photo Editor"])).toBe("anywhere")
  expect(grade("photo zoo", ["Photo Editor"])).toBeNull()
  expect(grade("語", ["日本語"])).toBe("anywhere")
})

test("words may occur in different texts of a record, including store ids", () => {
  expect(grade("lumen com.example", ["Lumen Journal"], ["com.example.lumen"])).toBe("word start")
  expect(grade("COM.Example.Lumen", ["Lumen"], ["com.example.lumen"])).toBe("exact")
  expect(grade("14378", ["Lumen"], ["1437843273"])).toBe("prefix")
})

test("a store link matches only the app that it links to", () => {
  const link = "https://apps.apple.com/us/app/lumen/id1437843273"
  expect(grade(link, ["Lumen"], ["1437843273"])).toBe("exact")
  expect(grade(link, ["1437843273"], ["14378432730"])).toBeNull()
  expect(grade(link, [link])).toBeNull()
})

test("a Turkish name is found in each of its spellings", () => {
  const spellings = ["İSTANBUL", "istanbul", "Istanbul", "ıstanbul", "I\u0307stanbul"]
  for (const name of spellings)
    for (const query of spellings) expect([name, query, grade(query, [name])]).toEqual([name, query, "exact"])
})

test("wildcards and expressions are matched literally", () => {
  for (const query of ["%", "_", ".", "*", "\\", "ph%", "(", "["])
    expect([query, grade(query, ["photo"])]).toEqual([query, null])
  expect(grade("50% o", ["50% off"])).toBe("prefix")
})

test("composed and decomposed letters are equal", () => {
  expect(foldText("cafe\u0301")).toBe("café")
  expect(grade("CAFÉ", ["cafe\u0301 noir"])).toBe("prefix")
  expect(grade("cafe", ["café"])).toBeNull()
})
