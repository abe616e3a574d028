import { describe, expect, test } from "bun:test"
import { catalog } from "../src/catalog.ts"
import { checkInput } from "../src/core/check-input.ts"
import { type Operation, pathNames, priceRange } from "../src/core/operation.ts"
import { readTree } from "../src/database/assets.ts"
import { catalogTable } from "../src/docs/terms.ts"
import { prepareSandbox } from "../src/http/sandbox.ts"
import { FAULT_CODES, FAULTS, Fault } from "../src/lib/faults.ts"
import errorRows from "./contract/errors.json"
import operationRows from "./contract/operations.json"
import { probes } from "./probes.ts"
import { expectSnapshot, readSnapshot } from "./snapshot.ts"

const contract = operationRows as unknown as Row[]
const fixtures = readTree("fixtures/sandbox", ".json")

describe("the catalog", () => {
  test("no two operations share an id, a tool name or a path", () => {
    expect(new Set(catalog.map(({ id }) => id)).size).toBe(catalog.length)
    expect(new Set(catalog.map(({ method, path }) => `${method} ${path}`)).size).toBe(catalog.length)
    for (const { id } of catalog) expect(id).toMatch(/^[a-z][a-z_]{1,62}[a-z]$/)
  })

  test("the catalog table has one line per operation with method, path, price, plan and scope", () => {
    expectSnapshot("catalog.txt", catalogTable(catalog))
  })

  test("the catalog lists operations in the order of the contract", () => {
    const built = new Set(catalog.map(({ id }) => id))
    expect(catalog.map(({ id }) => id)).toEqual(
      contract.map(({ operationId }) => operationId).filter((id) => built.has(id)),
    )
  })

  test("the list of operations that are not built only shrinks", () => {
    const built = new Set(catalog.map(({ id }) => id))
    const missing = contract.map(({ operationId }) => operationId).filter((id) => !built.has(id))
    const before = new Set(readSnapshot<string[]>("not-built.json"))
    // the list never gets an id that was built before, not even with UPDATE=1
    expect(missing.filter((id) => !before.has(id))).toEqual([])
    expectSnapshot("not-built.json", missing)
  })

  test("every operation has a sandbox fixture, and there is no other fixture", () => {
    expect([...fixtures.keys()].sort()).toEqual(catalog.map(({ id }) => `${id}.json`).sort())
    expect(prepareSandbox(catalog, fixtures, "http://127.0.0.1:8787").samples.size).toBe(catalog.length)
  })
})

describe("each operation matches its row of the contract", () => {
  for (const operation of catalog) {
    const row = contract.find(({ operationId }) => operationId === operation.id) as Row

    test(`${operation.id} has the contract's method, path, group, scope, plan and price`, () => {
      const { id, method, path, group, scope, terms, plan, hive, toolDefaults, price } = operation
      expect({
        operationId: id,
        method,
        path: path.replaceAll(/:(\w+)/g, "{$1}"),
        group,
        scope: terms ? "of the action" : scope,
        plan,
        hive,
        toolDefaults,
      }).toEqual({
        operationId: row.operationId,
        method: row.method,
        path: row.path,
        group: row.group,
        scope: row.scope,
        plan: row.plan,
        hive: row.hive,
        toolDefaults: row.toolDefaults,
      })
      if (row.price.min !== undefined) expect(priceRange(price).min).toBe(row.price.min)
      if (Object.keys(row.price).join() === "min") expect(price).toBe(row.price.min as number)
    })

    test(`${operation.id} has the contract's parameters`, () => {
      const names = Object.keys(operation.input.entries)
      const expectedNames = row.parameters.map(({ name }) => name)
      if (row.parametersNotShown) expect(names).toEqual(expect.arrayContaining(expectedNames))
      else expect(names.sort()).toEqual(expectedNames.sort())
      // a caller that knows only the specification is answered as the specification describes
      for (const { name, ours, required, in: place, default: defaultValue } of row.parameters)
        if (ours) expect([name, required, place, defaultValue]).toEqual([name, false, "query", undefined])
      const inPath = row.parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name)
      expect(pathNames(operation.path)).toEqual(inPath)
      const inBody = row.parameters.some((parameter) => parameter.in === "body")
      if (inBody) expect(operation.method).toBe("POST")
    })

    // test/writes/contract.test.ts tests the parameters of a preview, which depend on its action
    for (const parameter of operation.id === "preview_action" ? [] : row.parameters) {
      test(`${operation.id}: ${parameter.name} accepts only the contract's values, else ${parameter.code}`, () => {
        const { good, bad, absent } = probes(parameter)
        expect(bad.length).toBeGreaterThan(0)
        for (const value of good) expect([value, outcome(operation, parameter.name, value)]).toEqual([value, "taken"])
        for (const value of bad)
          expect([value, outcome(operation, parameter.name, value)]).toEqual([value, parameter.code])
        if (absent === "refused") expect(outcome(operation, parameter.name, undefined)).toBe(parameter.code)
        else expect(inputWith(operation, parameter.name, undefined)[parameter.name]).toEqual(absent.default)
      })
    }
  }
})

describe("the fault table", () => {
  test("the fault table has the contract's 84 codes and statuses, and the codes of any server", () => {
    const statuses = Object.fromEntries(FAULT_CODES.map((code) => [code, FAULTS[code].status]))
    const serverCodes = {
      body_too_large: 413,
      unsupported_media_type: 415,
      headers_too_large: 431,
      internal_error: 500,
      unavailable: 503,
    }
    const contracted = Object.fromEntries(errorRows.map(({ code, status }) => [code, status]))
    expect(Object.keys(contracted)).toHaveLength(84)
    expect(statuses).toEqual({ ...contracted, ...serverCodes })
  })

  test("the fault table matches its snapshot", () => expectSnapshot("faults.json", FAULTS))
})

interface Row {
  operationId: string
  method: Operation["method"]
  path: string
  group: Operation["group"]
  scope: string | null
  plan?: Operation["plan"]
  hive?: Operation["hive"]
  toolDefaults?: Record<string, unknown>
  price: { min?: number }
  parametersNotShown?: boolean
  parameters: (Parameters<typeof probes>[0] & { ours?: true })[]
}

/** Returns the sample's input with one parameter replaced or removed. */
function inputWith(operation: Operation, name: string, value: unknown): Record<string, unknown> {
  const { input } = JSON.parse(fixtures.get(`${operation.id}.json`) as string)
  const { [name]: _, ...rest } = input
  return checkInput(operation, value === undefined ? rest : { ...rest, [name]: value })
}

function outcome(operation: Operation, name: string, value: unknown): string {
  try {
    inputWith(operation, name, value)
    return "taken"
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return error.extra.field === name ? error.code : `${error.code} of ${error.extra.field}`
  }
}
