import { TOOLSETS, type Toolset } from "../core/operation.ts"
import { type Command, type Invocation, WrongUse } from "./cli/command.ts"
import { toolsUrl } from "./stdio/remote.ts"

export const mcp: Command = {
  name: "mcp",
  summary: "Provide the tools to an assistant over stdin and stdout.",
  details: "Calls go to a server (--url or APPMETER_URL), otherwise to the database. The key is in APPMETER_KEY.",
  examples: [
    ["mcp --url https://ranks.example.com", "the tools of a running server"],
    ["mcp", "the tools of the configured database, also while its server runs"],
    ["mcp --tools keywords,reviews", "only the tools of these toolsets"],
  ],
  options: {
    url: { value: "ADDRESS", meaning: "The server to forward calls to. Default: APPMETER_URL." },
    tools: { value: "NAMES", meaning: `Toolsets, separated by commas: daily, ${TOOLSETS.join(", ")}.` },
  },
  async run(invocation) {
    const { assistant } = invocation.settings
    const key = checkedKey(assistant.key)
    const query = queryOf(invocation)
    const address = invocation.text("url") ?? assistant.url
    const server = address === undefined ? undefined : toolsUrl(address)
    return (await import("./stdio/mcp.ts")).passMessages(invocation, { key, server, query })
  },
}

/** The key is never an argument, because everyone on the machine can read arguments. */
function checkedKey(key: string | undefined): string {
  const remedy =
    "create one with appmeter key create --name assistant, and pass it in the environment, never as an argument"
  if (key === undefined) throw new WrongUse(`APPMETER_KEY is not set; ${remedy}`)
  if (/^[\w.~+/=-]+$/.test(key)) return key
  throw new WrongUse(`APPMETER_KEY does not contain a key but perhaps a placeholder; ${remedy}`)
}

function queryOf({ text }: Invocation): string {
  const given = text("tools")
  if (given === undefined) return ""
  const names = given.split(",").map((name) => name.trim())
  const unknown = names.find((name) => name !== "daily" && !TOOLSETS.includes(name as Toolset))
  if (unknown === undefined) return `?tools=${names.join(",")}`
  throw new WrongUse(
    `unknown toolset ${JSON.stringify(unknown.slice(0, 60))}; choose from daily, ${TOOLSETS.join(", ")}`,
  )
}
