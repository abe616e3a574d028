import { expect, test } from "bun:test"
import fc from "fast-check"
import { yamlOf } from "../../src/http/openapi/yaml.ts"
import { slow } from "../long.ts"

slow("any JSON value is read back unchanged by a YAML parser", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), (value) => {
      const plain = JSON.parse(JSON.stringify(value))
      expect(Bun.YAML.parse(yamlOf(plain))).toEqual(plain)
    }),
    { numRuns: 1_000, seed: 20_261_123 },
  )
})

test("texts that look like other types stay texts", () => {
  const value = { no: "no", on: ["1e3", "2025-11-01", "~", "", "- a", "a: b", "#x"], y: { "200": null, "x-a": -0.5 } }
  expect(Bun.YAML.parse(yamlOf(value))).toEqual(value)
})
