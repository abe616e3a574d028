import { readText, versionOf } from "../../database/assets.ts"
import type { Deployment } from "./deployment.ts"

/** The path of the program in a bundle, without the suffix that Windows needs. */
export const MCPB_PROGRAM = "server/appmeter"

/**
 * Returns the manifest.json of an MCPB bundle, with which a desktop assistant installs the program as a local tool
 * server. The person enters the address of a server and a key, which the assistant stores.
 */
export function mcpbManifest({ name }: Deployment): string {
  const { description } = JSON.parse(readText("package.json")) as { description: string }
  const manifest = {
    manifest_version: "0.3",
    name: "appmeter",
    display_name: "Appmeter",
    version: versionOf(),
    description,
    author: { name: "The Appmeter authors" },
    license: "MIT",
    server: {
      type: "binary",
      entry_point: MCPB_PROGRAM,
      mcp_config: {
        command: `\${__dirname}/${MCPB_PROGRAM}`,
        args: ["mcp", "--tools", "daily"],
        env: { APPMETER_URL: `\${user_config.url}`, APPMETER_KEY: `\${user_config.key}` },
        platform_overrides: { win32: { command: `\${__dirname}/${MCPB_PROGRAM}.exe` } },
      },
    },
    tools_generated: true,
    user_config: {
      url: {
        type: "string",
        title: "Server",
        description: "Address of your Appmeter server.",
        default: name === undefined ? "http://127.0.0.1:8787" : `https://${name}`,
        required: true,
      },
      key: {
        type: "string",
        title: "API key",
        description: "A key for the assistant. The command appmeter key create --name assistant makes one.",
        sensitive: true,
        required: true,
      },
    },
    compatibility: { platforms: ["darwin", "win32", "linux"] },
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}
