import { catalog } from "../catalog.ts"
import { readTree } from "../database/assets.ts"
import { listeningUrl } from "../settings.ts"
import { openApiDocument } from "../surfaces/openapi.ts"
import { prepareSandbox } from "../surfaces/sandbox.ts"
import type { Command } from "./command.ts"

export const openapi: Command = {
  name: "openapi",
  summary: "Print the OpenAPI document that /v1/openapi.json serves.",
  examples: [["openapi > openapi.json", "for a client generator or a linter"]],
  async run({ settings, terminal }) {
    const publicUrl = settings.publicUrl ?? listeningUrl(settings.host, settings.port)
    const sandbox = prepareSandbox(catalog, readTree("fixtures/sandbox", ".json"), publicUrl)
    terminal.json(openApiDocument(catalog, { publicUrl, sandbox }))
    return 0
  },
}
