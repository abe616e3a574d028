import { isIPv6 } from "node:net"
import { secretNames } from "../settings/settings.ts"
import { type Command, WrongUse } from "./cli/command.ts"
import { assistantFiles } from "./packaging/assistants.ts"
import { composeFile } from "./packaging/compose.ts"
import { containerFile } from "./packaging/container.ts"
import { DEFAULT_UPSTREAM, type Deployment, SAMPLE_NAME } from "./packaging/deployment.ts"
import { githubAction } from "./packaging/github-action.ts"
import { grafanaDashboard } from "./packaging/grafana.ts"
import { registryEntry } from "./packaging/mcp-registry.ts"
import { mcpbManifest } from "./packaging/mcpb.ts"
import { prometheusRules } from "./packaging/prometheus.ts"
import { caddyFile, haproxyFile, nginxFile } from "./packaging/proxies.ts"
import { systemdUnit } from "./packaging/systemd.ts"

export const packaging: Command = {
  name: "packaging",
  summary: "Print files that run, protect, monitor or connect a server.",
  examples: [
    ["packaging systemd > /etc/systemd/system/appmeter.service", "a hardened unit with its own state directory"],
    ["packaging systemd --secret DATABASE_URL --secret SECRET_KEY", "the same unit, with secrets from /etc/appmeter"],
    ["packaging container > Containerfile", "an image of a release archive, running without root"],
    [
      "packaging compose --secret SECRET_KEY > compose.yaml",
      "PostgreSQL, Redis, a server and a process that reads the stores",
    ],
    ["packaging prometheus-rules > appmeter.rules.yml", "alert rules; packaging grafana prints a dashboard"],
    ["packaging caddy --name ranks.example.com", "a TLS proxy; haproxy and nginx likewise"],
    ["packaging haproxy --upstream 10.0.0.1:8787 --upstream 10.0.0.2:8787", "a proxy for several processes"],
    ["packaging assistants", "the configuration of assistants, with the path of this program"],
    ["packaging mcp-registry --name ranks.example.com", "the server.json for an MCP registry"],
    ["packaging mcpb > manifest.json", "the manifest of a bundle that desktop assistants install"],
    ["packaging github-action > action.yml", "an action that checks store texts in pull requests"],
  ],
  positionals: ["kind"],
  options: {
    secret: { meaning: "A secret setting to read from a file.", value: "NAME", repeated: true },
    name: { meaning: "The host name that callers use. Default: ranks.example.com.", value: "HOST" },
    upstream: {
      meaning: `For caddy, haproxy and nginx: address of a process. Default: ${DEFAULT_UPSTREAM}.`,
      value: "HOST:PORT",
      repeated: true,
    },
    image: { meaning: "For compose and mcp-registry: an image, such as ghcr.io/acme/appmeter:1.0.0.", value: "IMAGE" },
  },
  async run({ positionals: [kind = ""], texts, text, settings, terminal }) {
    const write = Object.hasOwn(KINDS, kind) ? KINDS[kind as keyof typeof KINDS] : undefined
    if (!write) throw new WrongUse(`unknown kind; choose one of ${Object.keys(KINDS).join(", ")}`)
    const deployment: Deployment = {
      secrets: checkedSecrets(texts("secret")),
      name: checkedName(text("name")),
      image: checkedImage(text("image")),
      upstreams: checkedUpstreams(kind, texts("upstream")),
      settings,
    }
    terminal.out(write(deployment))
    return 0
  },
}

const PROXIES = {
  caddy: caddyFile,
  haproxy: haproxyFile,
  nginx: nginxFile,
}

const KINDS = {
  systemd: systemdUnit,
  container: containerFile,
  compose: composeFile,
  ...PROXIES,
  "prometheus-rules": prometheusRules,
  grafana: grafanaDashboard,
  assistants: assistantFiles,
  "mcp-registry": registryEntry,
  mcpb: mcpbManifest,
  "github-action": githubAction,
} satisfies Record<string, (deployment: Deployment) => string>

function checkedSecrets(given: readonly string[] = []): readonly string[] {
  const names = secretNames()
  const wrong = given.find((name) => !names.includes(name))
  if (wrong !== undefined) throw new WrongUse(`--secret must be one of ${names.join(", ")}`)
  return [...new Set(given)]
}

/**
 * Returns the host name in lower case. Throws WrongUse for any other text, because the name becomes part of a
 * configuration.
 */
function checkedName(name: string | undefined): string | undefined {
  if (name === undefined || /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(name)) return name?.toLowerCase()
  throw new WrongUse(`--name must be a host name, such as ${SAMPLE_NAME}`)
}

function checkedImage(image: string | undefined): string | undefined {
  if (image === undefined || /^[a-z0-9][\w.:/-]{0,200}(:[\w.-]+|@sha256:[0-9a-f]{64})$/.test(image)) return image
  throw new WrongUse("--image must be an image with a tag or digest, such as ghcr.io/acme/appmeter:1.0.0")
}

function checkedUpstreams(kind: string, given: readonly string[] = []): readonly string[] {
  if (given.length === 0) return [DEFAULT_UPSTREAM]
  if (!Object.hasOwn(PROXIES, kind))
    throw new WrongUse(`--upstream can only be used with ${Object.keys(PROXIES).join(", ")}`)
  if (!given.every(isUpstream)) throw new WrongUse(`--upstream must be a host and a port, such as ${DEFAULT_UPSTREAM}`)
  return [...new Set(given.map((upstream) => upstream.toLowerCase()))]
}

function isUpstream(value: string): boolean {
  const [, bracketed, host, port] = UPSTREAM.exec(value) ?? []
  return (bracketed ? isIPv6(bracketed) : host !== undefined) && Number(port) >= 1 && Number(port) <= 65_535
}

const UPSTREAM = /^(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)):([0-9]{1,5})$/i
