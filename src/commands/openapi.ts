import { readTree } from "../database/assets.ts"
import { listeningUrl } from "../settings/settings.ts"
import type { Command } from "./command.ts"

export const openapi: Command = {
  name: "openapi",
  summary: "Print the OpenAPI document that /v1/openapi.json serves.",
  examples: [["openapi > openapi.json", "for a client generator or a linter"]],
  async run({ settings, terminal }) {
    // as in serve.ts
    const [{ catalog }, { openApiDocument }, { prepareSandbox }] = await Promise.all([
      import("../catalog.ts"),
      import("../surfaces/openapi.ts"),
      import("../surfaces/sandbox.ts"),
    ])
    const publicUrl = settings.publicUrl ?? listeningUrl(settings.host, settings.port)
    const sandbox = prepareSandbox(catalog, readTree("fixtures/sandbox", ".json"), publicUrl)
    terminal.json(openApiDocument(catalog, { publicUrl, sandbox }))
    return 0
  },
}
