import { expect, test } from "bun:test"
import type { Diff } from "../../../src/core/action.ts"
import { changedLines } from "../../../src/tracking/actions/changed-lines.ts"

const diff = (before: Diff["before"], after: Diff["after"]): Diff => ({
  summary: "",
  target: { kind: "app", id: "app", name: "App" },
  before,
  after,
  notes: [],
})

test("a changed field has a line with its old and new value", () => {
  expect(changedLines(diff({ name: "Tea", goal: null }, { name: "Kettle", goal: null }))).toEqual([
    "name: Tea → Kettle",
  ])
  expect(changedLines(diff({ at: { minute: 1 } }, { at: { minute: null } }))).toEqual(["at.minute: 1 → null"])
  expect(changedLines(diff({}, { link: "new" }))).toEqual(["link: nothing → new"])
})

test("a changed list has a line of added and a line of removed items", () => {
  const lists = diff({ tracked: [{ keywords: ["tea", "cup"] }] }, { tracked: [{ keywords: ["tea", "kettle", "pot"] }] })
  expect(changedLines(lists)).toEqual(["tracked.keywords: + kettle, pot", "tracked.keywords: - cup"])
  expect(changedLines(diff({ rivals: [{ id: "a" }] }, { rivals: [] }))).toEqual(['rivals: - {"id":"a"}'])
  expect(changedLines(diff({ order: ["a", "b"] }, { order: ["b", "a"] }))).toEqual(["order: in another order"])
})

test("an unchanged field has no line, and the line of a long change is shortened", () => {
  expect(changedLines(diff({ keywords: ["tea"] }, { keywords: ["tea"] }))).toEqual([])
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`field${i}`, i]))
  const lines = changedLines(diff({}, many))
  expect([lines.length, lines.at(-1)]).toEqual([21, "and 10 more"])
  expect(changedLines(diff({ text: "" }, { text: "x".repeat(5_000) }))[0]!.length).toBeLessThan(310)
})
