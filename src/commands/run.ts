import { hostname, userInfo } from "node:os"
import process from "node:process"
import { versionOf } from "../database/assets.ts"
import { redact } from "../lib/log.ts"
import { nearest } from "../lib/text.ts"
import { type Environment, readSettings, SettingsProblems, unknownSettings } from "../settings/settings.ts"
import { parseSettingsFile, WrongLine, withSettingsFile } from "../settings/settings-file.ts"
import { WrongValue } from "../tracking/checks.ts"
import { COMMANDS } from "./all.ts"
import { parseArguments } from "./cli/arguments.ts"
import { type Command, type ExitCode, type ProcessPort, type Terminal, WrongUse } from "./cli/command.ts"
import { sentenceOf } from "./cli/sentence.ts"
import { harmless } from "./cli/show.ts"
import { commandHelp, groupHelp, programHelp } from "./help.ts"

interface Surroundings {
  env: Environment
  readFile: (path: string) => string
  terminal: Terminal
  process: ProcessPort
}

/** Runs a command line and returns the exit code. Never throws: a failure is printed as one line to stderr. */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  try {
    return await dispatch(args, surroundings)
  } catch (error) {
    return report(error, surroundings)
  }
}

async function dispatch(args: readonly string[], { env, readFile, terminal, process: port }: Surroundings) {
  const [first] = args
  if (first === "--version" || first === "-v") {
    terminal.out(`${versionOf()}\n`)
    return 0
  }
  if (first === undefined || first === "help" || first === "--help" || first === "-h") {
    const help = helpFor(args.slice(1), terminal)
    if (first !== undefined) terminal.out(help)
    else terminal.say(help.trimEnd())
    return first === undefined ? 2 : 0
  }
  const command = commandOf(args)
  const rest = args.slice(command?.name.split(" ").length)
  if (!command) return showNearest(args, terminal)
  const typed = parseArguments(command, rest)
  if (typed.has("help")) {
    terminal.out(commandHelp(command, terminal.bold))
    return 0
  }
  const settings = readAllSettings(typed.text("settings"), { env, readFile })
  if (!command.logs) for (const warning of settings.warnings) terminal.say(`appmeter: warning: ${warning}`)
  const recorded = command.changes && { actor: actor(), command: command.name, typed: auditText(rest) }
  return await command.run({ ...typed, ...(recorded && { recorded }), settings, terminal, process: port })
}

/**
 * Reads the settings of the environment and of the file that --settings names. Throws WrongUse if this file is
 * unusable.
 */
function readAllSettings(file: string | undefined, { env, readFile }: Pick<Surroundings, "env" | "readFile">) {
  if (file === undefined) return readSettings(env, readFile)
  const inFile = readSettingsFile(file, readFile)
  const settings = readSettings(withSettingsFile(env, inFile), readFile)
  const warnings = new Set([...settings.warnings, ...unknownSettings(Object.keys(inFile))])
  return { ...settings, warnings: [...warnings] }
}

function readSettingsFile(file: string, readFile: (path: string) => string): Environment {
  try {
    return parseSettingsFile(readFile(file))
  } catch (error) {
    if (error instanceof WrongLine) throw new WrongUse(`--settings ${file}: ${error.message}`)
    throw new WrongUse(`--settings ${file}: the file cannot be read (${(error as { code?: string }).code})`)
  }
}

/** Returns the system's user and host name. In containers the user may have no name, or reading it may be forbidden. */
function actor(): string {
  const textOf = (read: () => unknown) => {
    try {
      return String(read())
    } catch {
      return undefined
    }
  }
  const user = textOf(() => userInfo().username) ?? textOf(() => `uid ${process.getuid?.()}`) ?? "somebody"
  return `${user}@${textOf(hostname) ?? "here"}`
}

const LONGEST_TYPED = 500

/** Returns the arguments for the audit: addresses cut to their host, keys redacted. */
function auditText(words: readonly string[]): string {
  const masked = words.map((word) => redact(word.replace(/(https?:\/\/[^/\s?#@]*@?[^/\s?#]*)[/?#]\S*/gi, "$1/…")))
  return harmless(masked.join(" ")).slice(0, LONGEST_TYPED)
}

/** Returns the longest command that the words begin with: "app keywords add" before "app". */
function commandOf(words: readonly string[]): Command | undefined {
  return COMMANDS.filter(({ name }) => name.split(" ").every((word, i) => words[i] === word)).sort(
    (a, b) => b.name.length - a.name.length,
  )[0]
}

function helpFor(words: readonly string[], { bold }: Terminal): string {
  const command = commandOf(words)
  if (command) return commandHelp(command, bold)
  const group = groupOf(words)
  return group ? groupHelp(group.name, group.commands, bold) : programHelp(COMMANDS, bold)
}

/** Returns the longest group that the words begin with, such as "app keywords". */
function groupOf(words: readonly string[]): { name: string; commands: Command[] } | undefined {
  for (let count = Math.min(words.length, 3); count > 0; count--) {
    const name = words.slice(0, count).join(" ")
    const commands = COMMANDS.filter((command) => command.name.startsWith(`${name} `))
    if (commands.length > 0) return { name, commands }
  }
  return undefined
}

/**
 * Answers an incomplete or misspelt command ("key", "key crate", "sevre") with the group's help or the nearest command.
 */
function showNearest(words: readonly string[], terminal: Terminal): ExitCode {
  const group = groupOf(words)
  const rest = group ? words.slice(group.name.split(" ").length) : []
  const optionsOnly = rest.every((word) => word.startsWith("-"))
  if (group && optionsOnly && rest.some((word) => word === "--help" || word === "-h")) {
    terminal.out(groupHelp(group.name, group.commands, terminal.bold))
    return 0
  }
  if (group && optionsOnly) {
    terminal.say(groupHelp(group.name, group.commands, terminal.bold).trimEnd())
    return 2
  }
  const typed = words.slice(0, (group?.name.split(" ").length ?? 0) + 1).join(" ")
  const names = (group?.commands ?? COMMANDS).flatMap(({ name }) => [name, ...name.split(" ").slice(0, 1)])
  const meant = nearest(typed, [...new Set(names)])
  const hint = meant ? `did you mean ${meant}?` : "list the commands with: appmeter --help"
  throw new WrongUse(`unknown command ${JSON.stringify(typed.slice(0, 60))}; ${hint}`)
}

function report(error: unknown, { terminal, env }: Surroundings): ExitCode {
  if (error instanceof SettingsProblems) {
    terminal.say(`appmeter: ${error.problems.length === 1 ? "a setting is" : "some settings are"} invalid:`)
    for (const { variable, value, fix } of error.problems) terminal.say(`  ${variable} ${value}: ${fix}`)
    return 78
  }
  terminal.say(`appmeter: ${sentenceOf(error)}`)
  if (error instanceof WrongUse || error instanceof WrongValue) return 2
  if (env.LOG_LEVEL === "debug") terminal.say(redact(String((error as Error)?.stack)))
  return 1
}
