/** The values that an assistant's configuration needs. */
interface Connection {
  /** The command that starts this program on the reader's machine. */
  command: string
  args: readonly string[]
  /** Environment variables that locate the data: DATA_DIR or APPMETER_URL. */
  place: Readonly<Record<string, string>>
  /** The tool endpoint of a server. */
  url: string
}

/** An assistant that reads its servers from a file. */
interface Assistant {
  name: string
  /** Path of that file. */
  file: string
  language: "json" | "toml"
  /** Returns the text of the file, for an assistant that starts this program itself. */
  stdio(connection: Connection): string
  /**
   * Returns the text of the file, for an assistant that connects to a server. Null if the assistant cannot use a server
   * from this file.
   */
  http(connection: Connection): string | null
  /** How the user provides the key. */
  key: string
}

/** The sample values of the manual. */
export const SAMPLE: Connection = {
  command: "/usr/local/bin/appmeter",
  args: ["mcp"],
  place: { DATA_DIR: "/var/lib/appmeter" },
  url: "http://127.0.0.1:8787/mcp",
}

const FROM_ENVIRONMENT = "It reads the key from its environment: set `APPMETER_KEY` where you start it."

export const ASSISTANTS: readonly Assistant[] = [
  {
    name: "Claude Code",
    file: "`.mcp.json` in a project; `claude mcp add` writes the same to your own settings",
    language: "json",
    stdio: (connection) => servers({ type: "stdio", ...program(connection, filled("APPMETER_KEY")) }),
    http: ({ url }) => servers({ type: "http", url, headers: bearer(filled("APPMETER_KEY")) }),
    key: FROM_ENVIRONMENT,
  },
  {
    name: "Claude Desktop",
    file:
      "`claude_desktop_config.json`, under Settings, Developer, Edit Config: in " +
      "`~/Library/Application Support/Claude` on macOS, in `%APPDATA%\\Claude` on Windows",
    language: "json",
    stdio: (connection) => servers(program(connection, "<key>")),
    http: () => null,
    key:
      "It does not read the environment: replace `<key>` with the key itself. For a server on another machine, " +
      "replace `DATA_DIR` with `APPMETER_URL` and its address.",
  },
  {
    name: "Cursor",
    file: "`~/.cursor/mcp.json`, or `.cursor/mcp.json` in a project",
    language: "json",
    stdio: (connection) => servers(program(connection, filled("env:APPMETER_KEY"))),
    http: ({ url }) => servers({ url, headers: bearer(filled("env:APPMETER_KEY")) }),
    key: FROM_ENVIRONMENT,
  },
  {
    name: "VS Code",
    file: "`.vscode/mcp.json` in a workspace, or your profile's (command MCP: Open User Configuration)",
    language: "json",
    stdio: (connection) => asking({ type: "stdio", ...program(connection, filled("input:appmeter-key")) }),
    http: ({ url }) => asking({ type: "http", url, headers: bearer(filled("input:appmeter-key")) }),
    key: "It asks for the key once and stores it encrypted.",
  },
  {
    name: "Codex",
    file: "`~/.codex/config.toml`, for the command line, the editor and the app",
    language: "toml",
    stdio({ command, args, place }) {
      const env = Object.entries(place).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
      return toml({ command, args, env_vars: ["APPMETER_KEY"] }, `\n[mcp_servers.appmeter.env]\n${env.join("\n")}\n`)
    },
    http: ({ url }) => toml({ url, bearer_token_env_var: "APPMETER_KEY" }),
    key: FROM_ENVIRONMENT,
  },
  {
    name: "Gemini CLI",
    file: "`~/.gemini/settings.json`, or `.gemini/settings.json` in a project",
    language: "json",
    stdio: (connection) => servers(program(connection, "$APPMETER_KEY")),
    http: ({ url }) => servers({ httpUrl: url, headers: bearer("$APPMETER_KEY") }),
    key: FROM_ENVIRONMENT,
  },
]

/** Returns a Markdown section for each assistant, with the path and contents of its configuration file. */
export function assistantSections(connection: Connection): string {
  return ASSISTANTS.map(({ name, file, language, stdio, http, key }) => {
    const served = http(connection)
    const blocks = [
      `## ${name}`,
      `${file}. ${key}`,
      "As a program that the assistant starts:",
      fenced(language, stdio(connection)),
      ...(served === null ? [] : ["As a server:", fenced(language, served)]),
    ]
    return blocks.join("\n\n")
  }).join("\n\n")
}

function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trim()}\n\`\`\``
}

function program({ command, args, place }: Connection, key: string) {
  return { command, args, env: { APPMETER_KEY: key, ...place } }
}

/** Returns a placeholder in the syntax that most assistants expand. */
function filled(name: string): string {
  return `\${${name}}`
}

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })

const json = (value: unknown) => JSON.stringify(value, null, 2)

const servers = (appmeter: object) => json({ mcpServers: { appmeter } })

function asking(appmeter: object): string {
  const input = { type: "promptString", id: "appmeter-key", description: "Key of Appmeter", password: true }
  return json({ inputs: [input], servers: { appmeter } })
}

/** TOML writes a string and a list of strings like JSON. */
function toml(values: Record<string, unknown>, more = ""): string {
  const lines = Object.entries(values).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
  return `[mcp_servers.appmeter]\n${lines.join("")}${more}`
}
