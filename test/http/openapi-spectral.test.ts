import { expect } from "bun:test"
import { type RulesetDefinition, Spectral } from "@stoplight/spectral-core"
import owasp from "@stoplight/spectral-owasp-ruleset"
import { catalog } from "../../src/catalog.ts"
import { readTree } from "../../src/database/assets.ts"
import { openApiDocument } from "../../src/http/openapi.ts"
import { prepareSandbox } from "../../src/http/sandbox.ts"
import { long, slow } from "../long.ts"

const publicUrl = "https://appmeter.example"

/** The accepted findings of OWASP's rules on inputs, headers and responses, with reasons. */
const LEFT: Record<string, string> = {
  "owasp:api4:2023-string-restricted":
    "a warning: keywords, names, texts, passwords, ids and what HTTP defines have a length, " +
    "and no pattern that is true",
  "owasp:api8:2023-define-cors-origin":
    "components.headers is taken for the headers of a response: every response itself has it, as the next test holds",
  "owasp:api9:2023-inventory-access": "who may reach an instance is decided where it runs, not in its document",
}

/** The findings for the whole document. Both tests share them because they take seconds. */
let whole: ReturnType<typeof findings> | undefined
const found = () => (whole ??= findings(withoutAnswers(document())))

long(
  "OWASP's rules find only the accepted problems with inputs and headers",
  async () => {
    expect(new Set((await found()).map(({ code }) => code))).toEqual(new Set(Object.keys(LEFT)))
  },
  60_000,
)

long(
  "the findings about CORS and inventory occur only at their accepted locations",
  async () => {
    const all = await found()
    const places = (code: string) => all.filter((finding) => finding.code === code).map(({ path }) => path.join("/"))
    expect(places("owasp:api8:2023-define-cors-origin")).toEqual(["components/headers"])
    expect(places("owasp:api9:2023-inventory-access")).toEqual(["servers/0"])
    const free = places("owasp:api4:2023-string-restricted").map((path) => path.split("/").at(-1))
    console.log(`${free.length} texts without a pattern`)
  },
  60_000,
)

slow(
  "OWASP's rules find an argument without a limit, a response without a header, and a missing error response",
  async () => {
    const single = document()
    single.paths = { "/alerts": single.paths["/alerts"]! }
    const broken = withoutAnswers(single)
    const { get } = broken.paths["/alerts"]!
    Object.assign(get!.parameters[0], { schema: { type: "integer" } })
    delete get!.responses[200].headers.RateLimit
    delete get!.responses[401]
    const codes = (await findings(broken)).map(({ code, path }) => `${code} ${path.slice(0, 3).join(" ")}`)
    expect(codes).toEqual(
      expect.arrayContaining([
        "owasp:api4:2023-integer-limit paths /alerts get",
        "owasp:api4:2023-rate-limit paths /alerts get",
        "owasp:api8:2023-define-error-responses-401 paths /alerts get",
      ]),
    )
  },
  60_000,
)

interface Document {
  // biome-ignore lint/suspicious/noExplicitAny: operations as a linter sees them
  paths: Record<string, Record<string, any>>
  components: { schemas: Record<string, object> }
}

function document(): Document {
  const sandbox = prepareSandbox(catalog, readTree("fixtures/sandbox", ".json"), publicUrl)
  return JSON.parse(JSON.stringify(openApiDocument(catalog, { publicUrl, sandbox, version: "0.1.0", examples: false })))
}

/** Removes answers, because limits on the server's own answers protect nobody. They cause 1,400 of 1,500 findings. */
function withoutAnswers(document: Document): Document {
  const { schemas } = document.components
  for (const name of Object.keys(schemas)) if (name.endsWith("Answer") || name === "Fault") schemas[name] = {}
  const visited = new Set<string>()
  const follow = (value: unknown): void => {
    for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (visited.has(name!)) continue
      visited.add(name!)
      follow(schemas[name!])
    }
  }
  follow({ ...document, components: { ...document.components, schemas: {} } })
  document.components.schemas = Object.fromEntries(Object.entries(schemas).filter(([name]) => visited.has(name)))
  return document
}

async function findings(document: Document) {
  const spectral = new Spectral()
  spectral.setRuleset({ extends: [[owasp as RulesetDefinition, "all"]] })
  return await spectral.run(JSON.stringify(document))
}
