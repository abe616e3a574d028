import { secretNames } from "../settings/settings.ts"
import { type Command, WrongUse } from "./cli/command.ts"
import { assistantFiles } from "./packaging/assistants.ts"
import { composeFile } from "./packaging/compose.ts"
import { containerFile } from "./packaging/container.ts"
import { type Deployment, SAMPLE_NAME } from "./packaging/deployment.ts"
import { grafanaDashboard } from "./packaging/grafana.ts"
import { registryEntry } from "./packaging/mcp-registry.ts"
import { prometheusRules } from "./packaging/prometheus.ts"
import { caddyFile, nginxFile } from "./packaging/proxies.ts"
import { systemdUnit } from "./packaging/systemd.ts"

export const packaging: Command = {
  name: "packaging",
  summary:
    "Print what runs, watches or connects a server: systemd, container, compose, caddy, nginx, prometheus-rules, grafana, assistants, mcp-registry.",
  examples: [
    ["packaging systemd > /etc/systemd/system/appmeter.service", "a hardened unit with its own state directory"],
    ["packaging systemd --secret DATABASE_URL --secret SECRET_KEY", "the same, with secrets from /etc/appmeter"],
    ["packaging container > Containerfile", "an image of the binary alone, without root"],
    ["packaging compose --secret SECRET_KEY > compose.yaml", "PostgreSQL, Redis, a server, and what reads the stores"],
    ["packaging prometheus-rules > appmeter.rules.yml", "what to be told of; packaging grafana is a dashboard"],
    ["packaging nginx --name ranks.example.com", "a server block to pass calls on; caddy likewise"],
    ["packaging assistants", "what to write into an assistant's configuration, with the path of this program"],
    ["packaging mcp-registry --name ranks.example.com", "the server.json that enters an instance into a registry"],
  ],
  positionals: ["kind"],
  options: {
    secret: { meaning: "A secret setting to take from a file.", value: "NAME", repeated: true },
    name: { meaning: "The host name that callers use; ranks.example.com when left out.", value: "HOST" },
    image: { meaning: "For mcp-registry: an image that was pushed, as ghcr.io/acme/appmeter:1.0.0.", value: "IMAGE" },
  },
  async run({ positionals: [kind = ""], texts, text, settings, terminal }) {
    const write = Object.hasOwn(KINDS, kind) ? KINDS[kind as keyof typeof KINDS] : undefined
    if (!write) throw new WrongUse(`there is no packaging for that; choose one of ${Object.keys(KINDS).join(", ")}`)
    const [name, image] = [checkedName(text("name")), checkedImage(text("image"))]
    terminal.out(write({ secrets: checkedSecrets(texts("secret")), name, image, settings }))
    return 0
  },
}

const KINDS = {
  systemd: systemdUnit,
  container: containerFile,
  compose: composeFile,
  caddy: caddyFile,
  nginx: nginxFile,
  "prometheus-rules": prometheusRules,
  grafana: grafanaDashboard,
  assistants: assistantFiles,
  "mcp-registry": registryEntry,
} satisfies Record<string, (deployment: Deployment) => string>

function checkedSecrets(given: readonly string[] = []): readonly string[] {
  const known = secretNames()
  const wrong = given.find((name) => !known.includes(name))
  if (wrong !== undefined) throw new WrongUse(`--secret takes one of ${known.join(", ")}`)
  return [...new Set(given)]
}

/** It becomes part of a configuration: nothing but a name may stand in it. */
function checkedName(name: string | undefined): string | undefined {
  if (name === undefined || /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(name)) return name?.toLowerCase()
  throw new WrongUse(`--name takes a host name, as ${SAMPLE_NAME}`)
}

function checkedImage(image: string | undefined): string | undefined {
  if (image === undefined || /^[a-z0-9][\w.:/-]{0,200}(:[\w.-]+|@sha256:[0-9a-f]{64})$/.test(image)) return image
  throw new WrongUse("--image takes an image with its tag or digest, as ghcr.io/acme/appmeter:1.0.0")
}
