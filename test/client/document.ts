// bun test/client/document.ts: the document that types are generated from, without its examples
import { catalog } from "../../src/catalog.ts"
import { readTree } from "../../src/database/assets.ts"
import { openApiDocument } from "../../src/surfaces/openapi.ts"
import { prepareSandbox } from "../../src/surfaces/sandbox.ts"

const publicUrl = "http://127.0.0.1:8787"

/** As text; the same for the same types. */
export function documentForTypes(): string {
  const sandbox = prepareSandbox(catalog, readTree("fixtures/sandbox", ".json"), publicUrl)
  const document = openApiDocument(catalog, { publicUrl, sandbox, version: "0.1.0" })
  return JSON.stringify(document, (name, held) => (name === "example" || name === "examples" ? undefined : held))
}

if (import.meta.main) process.stdout.write(`${documentForTypes()}\n`)
