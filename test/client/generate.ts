// bun test/client/generate.ts — writes api.d.ts, the types of the OpenAPI document as openapi-typescript makes them.
// `bun run types` runs it first.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { plugin } from "bun"
import typescript5 from "typescript-5"
import { catalog } from "../../src/catalog.ts"
import { readTree } from "../../src/database/assets.ts"
import { openApiDocument } from "../../src/http/openapi.ts"
import { prepareSandbox } from "../../src/http/sandbox.ts"

// openapi-typescript needs the compiler's JavaScript interface, which TypeScript 7 does not have
plugin({
  name: "typescript 5 for openapi-typescript",
  setup: (build) => {
    build.module("typescript", () => ({ loader: "object", exports: { ...typescript5, default: typescript5 } }))
  },
})
const { astToString, default: openapiTs } = await import("openapi-typescript")

const publicUrl = "http://127.0.0.1:8787"
const sandbox = prepareSandbox(catalog, readTree("fixtures/sandbox", ".json"), publicUrl)
const document = openApiDocument(catalog, { publicUrl, sandbox, version: "0.1.0" })
// examples do not change the types
const text = JSON.stringify(document, (name, value) => (name === "example" || name === "examples" ? undefined : value))
writeFileSync(join(import.meta.dirname, "api.d.ts"), astToString(await openapiTs(text)))
