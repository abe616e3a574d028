import { typedAs } from "../database/assets.ts"
import { settingGroups } from "../settings/settings.ts"
import { COMMON, usageLine } from "./cli/arguments.ts"
import type { Command, Option, Terminal } from "./cli/command.ts"

type Emphasis = Terminal["bold"]

/** Returns the help of the program. */
export function programHelp(commands: readonly Command[], bold: Emphasis): string {
  const examples = rows([
    ["appmeter serve", "serve on http://127.0.0.1:8787; the first start prints keys"],
    ["appmeter key create --name ci", "create a key"],
    ["appmeter app add 'Tide Times' --ios 1234567890 --country us", "track an app"],
    ["appmeter import readings.jsonl", "import recorded search results"],
  ])
  const list = rows(commands.map(({ name, summary }) => [name, summary]))
  return [
    "Appmeter shows where your apps rank in the stores.",
    section(bold("Examples"), examples),
    section(bold("Commands"), list),
    section(bold("Settings (appmeter settings explains each)"), settingLines()),
    [
      "Every command takes --json, --help and --settings FILE.",
      ...(typedAs() === "appmeter" ? [] : [`Here, type ${typedAs()} instead of appmeter.`]),
      "A running server has the manual at /docs/operate.",
    ].join("\n"),
    section(bold("Exit codes"), ["0 success, 1 failure, 2 wrong usage, 78 invalid settings"]),
  ]
    .join("\n\n")
    .concat("\n")
}

/** Returns a line for each group of settings. A long group lists only its first names. */
function settingLines(): string[] {
  return rows(
    settingGroups().map(({ title, settings }) => {
      const names = settings.map(({ name }) => name)
      return [title, `${names.slice(0, MAX_NAMES).join(", ")}${names.length > MAX_NAMES ? ", …" : ""}`]
    }),
  )
}

const MAX_NAMES = 3

/** Returns the help of a group of commands, such as "key". */
export function groupHelp(group: string, commands: readonly Command[], bold: Emphasis): string {
  const list = rows(commands.map(({ name, summary }) => [name, summary]))
  return `${section(bold("Commands"), list)}\n\nFor details: appmeter ${group} … --help\n`
}

/** Returns the help of a command, with its examples first. */
export function commandHelp(command: Command, bold: Emphasis): string {
  const options = Object.entries<Option>({ ...command.options, ...COMMON })
  const pairs = options.map(([name, { value, meaning, repeated }]): [string, string] => [
    `--${name}${value ? ` ${value}` : ""}`,
    meaning + (repeated ? " Can be repeated." : ""),
  ])
  return [
    [command.summary, ...(command.details === undefined ? [] : [command.details])].join("\n"),
    section(bold("Examples"), rows(command.examples.map(([typed, does]) => [`appmeter ${typed}`, does]))),
    section(bold("Usage"), [usageLine(command)]),
    section(bold("Options"), rows(pairs)),
  ]
    .join("\n\n")
    .concat("\n")
}

function section(title: string, lines: string[]): string {
  return [title, ...lines.map((line) => `  ${line}`)].join("\n")
}

const WIDEST = 44

/** Formats two columns. A long left cell gets a line of its own. */
function rows(pairs: [left: string, right: string][]): string[] {
  const width = Math.min(WIDEST, Math.max(...pairs.map(([left]) => left.length)))
  return pairs.flatMap(([left, right]) =>
    left.length > width ? [left, `${" ".repeat(width)}  ${right}`] : [`${left.padEnd(width)}  ${right}`.trimEnd()],
  )
}
