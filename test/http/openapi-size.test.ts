import { beforeAll, describe, expect, test } from "bun:test"
import { catalog } from "../../src/catalog.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"

/** Maximum bytes per operation in the document without examples, so that an assistant can read it. */
const MAX_BYTES = 8_700

let service: Service
beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
})

async function served(path: string): Promise<string> {
  const response = await service.app.fetch(new Request(`${PUBLIC_URL}${path}`), null)
  expect(response.status).toBe(200)
  return await response.text()
}

const plain = (text: string) =>
  JSON.parse(text, (name, nested) => (name === "example" || name === "examples" ? undefined : nested))

/**
 * Returns the document with each shared parameter inlined. Examples differ, so more parameters are shared in a document
 * without them.
 */
function withOwnParameters({ components: { parameters, ...components }, ...document }: Whole): object {
  const text = JSON.stringify({ ...document, components })
  return JSON.parse(
    text.replaceAll(/\{"\$ref":"#\/components\/parameters\/(\w+)"\}/g, (_, name) => JSON.stringify(parameters[name])),
  )
}

interface Whole {
  components: { parameters: Record<string, object> }
}

describe("the document without its examples", () => {
  slow("the document without examples has at most 8.7 KB per operation and omits only examples", async () => {
    const [whole, lean] = [await served("/v1/openapi.json"), await served("/v1/openapi.json?examples=no")]
    console.log(`openapi.json: ${whole.length} bytes, ${lean.length} without examples, ${catalog.length} operations`)
    expect(catalog.length).toBeGreaterThanOrEqual(30)
    expect(lean.length).toBeLessThan(MAX_BYTES * catalog.length)
    expect(lean).not.toContain('"example')
    expect(withOwnParameters(JSON.parse(lean))).toEqual(withOwnParameters(plain(whole)))
  })

  slow("the document without examples is also available as YAML", async () => {
    const lean = Bun.YAML.parse(await served("/v1/openapi.yaml?examples=no"))
    expect(lean).toEqual(JSON.parse(await served("/v1/openapi.json?examples=no")))
  })

  test("the document contains no large repeated part", async () => {
    const document = JSON.parse(await served("/v1/openapi.json?examples=no"))
    const counted = new Map<string, number>()
    const count = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return
      const text = JSON.stringify(value)
      if ("type" in value || "anyOf" in value || "allOf" in value) counted.set(text, (counted.get(text) ?? 0) + 1)
      for (const nested of Object.values(value)) count(nested)
    }
    count(document)
    // a reference to a component would take 50 bytes
    const repeated = [...counted].filter(([text, times]) => text.length >= 250 && times > 1)
    expect(repeated.map(([text]) => text)).toEqual([])
  })
})
