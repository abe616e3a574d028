import { secretNames } from "../settings/settings.ts"
import { type Command, WrongUse } from "./cli/command.ts"
import { containerFile } from "./packaging/container.ts"
import type { Deployment } from "./packaging/deployment.ts"
import { caddyFile, nginxFile } from "./packaging/proxies.ts"
import { systemdUnit } from "./packaging/systemd.ts"

export const packaging: Command = {
  name: "packaging",
  summary: "Print what runs a server elsewhere: systemd, container, caddy or nginx.",
  examples: [
    ["packaging systemd > /etc/systemd/system/appmeter.service", "a hardened unit with its own state directory"],
    ["packaging systemd --secret DATABASE_URL --secret SECRET_KEY", "the same, with secrets from /etc/appmeter"],
    ["packaging container > Containerfile", "an image of the binary alone, without root"],
    ["packaging nginx --name ranks.example.com", "a server block to pass calls on; caddy likewise"],
  ],
  positionals: ["kind"],
  options: {
    secret: { meaning: "A secret setting to take from a file.", value: "NAME", repeated: true },
    name: { meaning: "The host name that callers use; ranks.example.com when left out.", value: "HOST" },
  },
  async run({ positionals: [kind = ""], texts, text, terminal }) {
    const write = Object.hasOwn(KINDS, kind) ? KINDS[kind as keyof typeof KINDS] : undefined
    if (!write) throw new WrongUse(`there is no packaging for that; choose one of ${Object.keys(KINDS).join(", ")}`)
    terminal.out(write({ secrets: checkedSecrets(texts("secret")), name: checkedName(text("name")) }))
    return 0
  },
}

const KINDS = {
  systemd: systemdUnit,
  container: containerFile,
  caddy: caddyFile,
  nginx: nginxFile,
} satisfies Record<string, (deployment: Deployment) => string>

function checkedSecrets(given: readonly string[] = []): readonly string[] {
  const known = secretNames()
  const wrong = given.find((name) => !known.includes(name))
  if (wrong !== undefined) throw new WrongUse(`--secret takes one of ${known.join(", ")}`)
  return [...new Set(given)]
}

/** It becomes part of a configuration: nothing but a name may stand in it. */
function checkedName(name = "ranks.example.com"): string {
  if (/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(name)) return name.toLowerCase()
  throw new WrongUse("--name takes a host name, as ranks.example.com")
}
