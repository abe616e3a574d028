import { expect, test } from "bun:test"
import * as v from "valibot"
import { argumentList } from "../../src/docs/arguments.ts"
import { Country } from "../../src/lib/fields.ts"
import { coded, described } from "../../src/lib/schema.ts"

const { text } = argumentList(
  v.strictObject({
    appId: described(v.pipe(v.string(), v.minLength(1), v.maxLength(64)), "Which <app>."),
    rows: v.optional(v.pipe(v.number(), v.integer(), v.minValue(3), v.maxValue(50)), 10),
    least: v.optional(v.pipe(v.number(), v.minValue(2))),
    kind: v.picklist(["free", "paid"]),
    read: v.optional(v.boolean(), true),
    code: v.pipe(v.string(), v.length(2)),
    terms: v.optional(
      described(
        v.pipe(v.array(described(v.pipe(v.string(), v.maxLength(150)), "A keyword.")), v.minLength(1), v.maxLength(9)),
        "Some.",
      ),
      ["tea"],
    ),
    until: v.optional(v.nullable(v.string())),
    country: v.optional(Country),
    day: v.optional(coded(v.pipe(v.string(), v.isoDate()), "bad_day")),
    at: v.optional(v.union([v.pipe(v.string(), v.isoDate()), v.number(), v.pipe(v.number(), v.minValue(2))])),
  }),
  { id: "sample", inPath: ["appId"], examples: { appId: "app_<1>", kind: "free", rows: 9, code: "de" } },
)
const lines = text.split("<li ").slice(1)
const line = (name: string) =>
  lines.find((part) => part.startsWith(`id="sample.in.${name}"><a href="#sample.in.${name}"><code>${name}</code></a>`))

test("an argument is shown with its type, whether it is required, default, limits and meaning", () => {
  expect(lines).toHaveLength(11)
  const facts = (name: string) => /<span class="quiet">(.*)<\/span>/.exec(line(name) ?? "")?.[1]
  expect(facts("appId")).toBe("string, in the path, 1 to 64 characters")
  expect(facts("rows")).toBe("integer, default 10, 3 to 50")
  expect(facts("least")).toBe("number, optional, at least 2")
  expect(facts("kind")).toBe("one of free, paid, required")
  expect(facts("read")).toBe("boolean, default true")
  expect(facts("code")).toBe("string, required, 2 characters")
  expect(facts("terms")).toBe("list of strings, default [&quot;tea&quot;], 1 to 9 entries, each up to 150 characters")
  expect(facts("until")).toBe("string or null, optional")
  expect(facts("day")).toBe("date, optional")
  expect(facts("at")).toBe("date or number, optional")
})

test("a required argument shows its example, and an optional one shows none", () => {
  const example = (name: string) => / · example: <code>(.*)<\/code>/.exec(line(name) ?? "")?.[1]
  expect(["appId", "kind", "code"].map(example)).toEqual(["app_&lt;1&gt;", "free", "de"])
  expect(["rows", "least", "day"].map(example)).toEqual([undefined, undefined, undefined])
})

test("an argument's description is escaped and followed by the description of its list entries", () => {
  expect(line("appId")).toContain("Which &lt;app&gt;.")
  expect(line("terms")).toContain("Some. Each: A keyword.")
  expect(line("rows")).not.toContain("<br>")
  expect(text).not.toContain("undefined")
})

test("the error code of an invalid argument links to its entry in the list", () => {
  const code = (name: string) => /if invalid: <a href="\/docs\/errors#(\w+)"><code>\1</.exec(line(name) ?? "")?.[1]
  expect([code("rows"), code("country"), code("day")]).toEqual(["invalid_arguments", "bad_country", "bad_day"])
})

test("an operation without arguments shows a sentence instead of an empty list", () => {
  expect(argumentList(v.strictObject({}), { id: "sample" }).text).toBe('<p class="quiet">No parameters.</p>')
})
