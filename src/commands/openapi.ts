import { readTree, versionOf } from "../database/assets.ts"
import { yamlOf } from "../http/openapi/yaml.ts"
import { listeningUrl } from "../settings/settings.ts"
import type { Command } from "./cli/command.ts"

export const openapi: Command = {
  name: "openapi",
  summary: "Print the OpenAPI document that /v1/openapi.json serves.",
  examples: [
    ["openapi > openapi.json", "for a client generator or a linter"],
    ["openapi --yaml > openapi.yaml", "as YAML"],
    ["openapi --table", "one line per operation: method, path, price, plan and scope"],
  ],
  options: {
    yaml: { meaning: "Print YAML instead of JSON." },
    table: { meaning: "Print one line per operation instead." },
  },
  async run({ has, settings, terminal }) {
    // imported here to start other commands faster, as in serve.ts
    const [{ catalog }, { catalogTable }, { openApiDocument }, { prepareSandbox }] = await Promise.all([
      import("../catalog.ts"),
      import("../docs/terms.ts"),
      import("../http/openapi.ts"),
      import("../http/sandbox.ts"),
    ])
    if (has("table")) {
      terminal.out(catalogTable(catalog))
      return 0
    }
    const publicUrl = settings.publicUrl ?? listeningUrl(settings.host, settings.port)
    const sandbox = prepareSandbox(catalog, readTree("fixtures/sandbox", ".json"), publicUrl)
    const document = openApiDocument(catalog, { publicUrl, sandbox, version: versionOf() })
    if (has("yaml")) terminal.out(yamlOf(document).trim())
    else terminal.json(document)
    return 0
  },
}
