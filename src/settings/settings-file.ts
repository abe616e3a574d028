import type { Environment } from "./settings.ts"

/** A line of a settings file that cannot be read. The message contains no value, because it may be a secret. */
export class WrongLine extends Error {
  override name = "WrongLine"
}

/**
 * Parses a file in the form of systemd's EnvironmentFile: NAME=value on each line, "#" or ";" before a comment, quotes
 * around a value that needs them, a backslash at the end of a line that continues. A "#" within a value belongs to it.
 * Throws WrongLine.
 */
export function parseSettingsFile(text: string): Environment {
  const found: Environment = {}
  const lines = text.split(/\r?\n/)
  for (let at = 0; at < lines.length; at++) {
    const number = at + 1
    let line = lines[at]!.trim()
    if (line === "" || /^[#;]/.test(line)) continue
    while (line.endsWith("\\") && at + 1 < lines.length) line = line.slice(0, -1) + lines[++at]!.trim()
    const [, name, value] = /^(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/.exec(line) ?? []
    if (name === undefined) throw new WrongLine(`line ${number} must be NAME=value or a comment`)
    found[name] = unquoted(value!, number)
  }
  return found
}

function unquoted(value: string, number: number): string {
  const quote = value[0]
  if (quote !== '"' && quote !== "'") return value
  if (value.length < 2 || !value.endsWith(quote)) throw new WrongLine(`line ${number} has no closing quote at its end`)
  const inner = value.slice(1, -1)
  return quote === "'" ? inner : inner.replaceAll(/\\(["\\$`])/g, "$1")
}

/** Returns the environment with the settings of a file. The environment has precedence, also over a secret's file. */
export function withSettingsFile(env: Environment, file: Environment): Environment {
  const isSet = (name: string) => Boolean(env[name]?.trim())
  const added = Object.entries(file).filter(([name]) => {
    const base = name.replace(/_FILE$/, "")
    return !isSet(base) && !isSet(`${base}_FILE`) && !isSet(name)
  })
  return { ...env, ...Object.fromEntries(added) }
}
