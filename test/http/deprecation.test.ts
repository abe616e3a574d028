import { beforeAll, describe, expect, test } from "bun:test"
import * as v from "valibot"
import { catalog } from "../../src/catalog.ts"
import { operation } from "../../src/core/operation.ts"
import { readTree } from "../../src/database/assets.ts"
import { MANUAL_FOLDER, manualTexts } from "../../src/docs/manual.ts"
import { referencePages } from "../../src/docs/reference.ts"
import { faultsOf } from "../../src/http/openapi/responses.ts"
import { openApiDocument } from "../../src/http/openapi.ts"
import { prepareSandbox } from "../../src/http/sandbox.ts"
import { toolOf } from "../../src/http/tools/listing.ts"
import { type Deprecation, deprecated, described } from "../../src/lib/schema.ts"
import { DAY_MS } from "../../src/lib/time.ts"
import { freshDatabase } from "../database.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"

const OLD: Deprecation = { since: "2026-12-01", until: "2027-12-01", instead: "use get_new." }
const COLOUR: Deprecation = { since: "2027-01-15", until: "2028-01-15", instead: "use tone." }

const declared = {
  method: "GET",
  group: "Account",
  toolset: "account",
  summary: "A read.",
  effect: "reads",
  scope: null,
  price: 0,
} as const
const output = v.strictObject({ ok: v.boolean() })

const getOld = operation({
  ...declared,
  output,
  faults: [],
  id: "get_old",
  path: "/old",
  deprecated: OLD,
  input: v.strictObject({}),
}).run(async () => ({ ok: true }))

const getNew = operation({
  ...declared,
  output,
  faults: [],
  id: "get_new",
  path: "/new",
  input: v.strictObject({
    tone: v.optional(described(v.string(), "Its tone.")),
    colour: deprecated(v.optional(described(v.string(), "Its colour.")), COLOUR),
  }),
}).run(async () => ({ ok: true }))

const deprecatedOperations = [getOld, getNew]
const fixtures = new Map(
  deprecatedOperations.map(({ id }) => [`${id}.json`, JSON.stringify({ input: {}, answer: { ok: true } })]),
)
const LINK = '</docs/operate/changes>; rel="deprecation"'

let service: Service
let key: string

beforeAll(async () => {
  service = openService({ sql: await freshDatabase(), catalog: deprecatedOperations, fixtures })
  key = await service.key(await service.workspace())
})

const deprecationOf = ({ headers }: { headers: Headers }) => [headers.get("deprecation"), headers.get("sunset")]

describe("deprecations", () => {
  test("every answer of a deprecated operation, or to a deprecated parameter, has deprecation headers", async () => {
    const old = await service.call("/v1/old", { key })
    expect([old.status, ...deprecationOf(old)]).toEqual([200, "@1796083200", "Wed, 01 Dec 2027 00:00:00 GMT"])
    expect(old.headers.get("link")).toStartWith(LINK)
    const conditional = { "if-none-match": old.headers.get("etag") as string }
    expect(deprecationOf(await service.call("/v1/old", { key, headers: conditional }))).toEqual(deprecationOf(old))
    const refused = await service.call("/v1/old?x=1", { key })
    expect([refused.status, ...deprecationOf(refused)]).toEqual([400, ...deprecationOf(old)])

    expect(deprecationOf(await service.call("/v1/new?tone=warm", { key }))).toEqual([null, null])
    const sent = await service.call("/v1/new?colour=red", { key })
    expect([sent.status, ...deprecationOf(sent)]).toEqual([200, "@1799971200", "Sat, 15 Jan 2028 00:00:00 GMT"])
  })

  test("assistants see deprecations in the tool list and in the headers of a call", async () => {
    expect(toolOf(getOld)).toMatchObject({
      description: expect.stringContaining("may be gone from 2027-12-01: use get_new."),
    })
    expect(toolOf(getNew)).toMatchObject({
      inputSchema: { properties: { colour: { deprecated: true, description: expect.stringContaining("use tone.") } } },
    })
    expect(deprecationOf(await service.tool("get_old", {}, { key }))[0]).toBe("@1796083200")
    expect(deprecationOf(await service.tool("get_new", { tone: "warm" }, { key }))[0]).toBeNull()
  })

  test("a deprecation is marked in the OpenAPI document, in the reference and in the manual", () => {
    const sandbox = prepareSandbox(deprecatedOperations, fixtures, PUBLIC_URL)
    const document = openApiDocument(deprecatedOperations, { publicUrl: PUBLIC_URL, sandbox, version: "0.1.0" })
    // biome-ignore lint/suspicious/noExplicitAny: a document
    const { paths } = JSON.parse(JSON.stringify(document)) as any
    expect(paths["/old"].get).toMatchObject({ deprecated: true, description: expect.stringContaining("use get_new.") })
    expect(Object.keys(paths["/old"].get.responses[200].headers)).toEqual(
      expect.arrayContaining(["Deprecation", "Sunset", "Link"]),
    )
    expect(paths["/new"].get.deprecated).toBeUndefined()
    const [tone, colour] = paths["/new"].get.parameters
    expect([tone.deprecated, colour.deprecated]).toEqual([undefined, true])
    expect(colour.schema).toEqual({ type: "string" })

    const pages = referencePages(deprecatedOperations, {
      publicUrl: PUBLIC_URL,
      samples: sandbox.samples,
      actions: [],
      faultsOf,
    })
    const page = [...pages.values()].map((make) => make()).join("")
    for (const { until, instead } of [OLD, COLOUR]) expect(page).toContain(`may be gone from ${until}: ${instead}`)

    const files = readTree(MANUAL_FOLDER, ".md")
    const changes = manualTexts({ files, catalog: deprecatedOperations, actions: [] }).get("changes")
    expect(changes).toContain("| `get_old` | 2026-12-01 | 2027-12-01 | use get_new. |")
    expect(changes).toContain("| `colour` of `get_new` | 2027-01-15 | 2028-01-15 | use tone. |")
    expect(manualTexts({ files, catalog: [], actions: [] }).get("changes")).toContain("Nothing is deprecated now.")
  })
})

test("every deprecation in the catalog gives at least a year's notice and names a replacement", () => {
  const all = catalog.flatMap(({ deprecated, deprecatedInputs }) => [
    ...(deprecated ? [deprecated] : []),
    ...deprecatedInputs.values(),
  ])
  for (const { since, until, instead } of [...all, OLD, COLOUR]) {
    expect((Date.parse(until) - Date.parse(since)) / DAY_MS).toBeGreaterThanOrEqual(365)
    expect(instead).toMatch(/^[a-z].*\.$/)
  }
})

test("an answer without deprecations has no deprecation headers", async () => {
  const all = openService({ sql: service.sql })
  for (const path of ["/v1/apps", "/v1/account", "/docs"])
    expect(deprecationOf(await all.call(path, { key }))).toEqual([null, null])
})
