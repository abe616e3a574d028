import { readText } from "../../database/assets.ts"
import { type Deployment, SAMPLE_NAME } from "./deployment.ts"

const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

const KEY = { description: "An API key. The command appmeter key create makes one.", isRequired: true, isSecret: true }

/**
 * Returns the server.json that registers an instance in a registry of tool servers. The program is in no package
 * registry, so the file lists a package only if the operator names a pushed image.
 */
export function registryEntry({ name = SAMPLE_NAME, image }: Deployment): string {
  const { description, version } = JSON.parse(readText("package.json")) as { description: string; version: string }
  const header = {
    name: "Authorization",
    value: "Bearer {key}",
    variables: { key: { ...KEY, placeholder: "svc_live_…" } },
    isRequired: true,
    isSecret: true,
  }
  const entry = {
    $schema: SCHEMA,
    name: `${name.split(".").reverse().join(".")}/appmeter`,
    title: "Appmeter",
    description,
    version,
    websiteUrl: `https://${name}/docs`,
    remotes: [{ type: "streamable-http", url: `https://${name}/mcp`, headers: [header] }],
    ...(image !== undefined && { packages: [packageOf(image, name)] }),
  }
  return `${JSON.stringify(entry, null, 2)}\n`
}

function packageOf(image: string, name: string): object {
  return {
    registryType: "oci",
    identifier: image,
    transport: { type: "stdio" },
    packageArguments: [{ type: "positional", value: "mcp" }],
    environmentVariables: [
      { name: "APPMETER_KEY", ...KEY },
      { name: "APPMETER_URL", description: "The server to forward calls to.", default: `https://${name}` },
    ],
  }
}
