import { parseArgs } from "node:util"
import { nearest } from "../../lib/text.ts"
import { type Command, type Invocation, type Option, WrongUse } from "./command.ts"

/** Options of every command. */
export const COMMON: Record<string, Option> = {
  settings: {
    value: "FILE",
    meaning: "Read settings from a file with NAME=value lines; the environment has precedence.",
  },
  json: { meaning: "Print one JSON document." },
  help: { meaning: "Show this help." },
}

type CommandInput = Pick<Invocation, "positionals" | "text" | "texts" | "amount" | "has">

/**
 * Parses a command's arguments. Throws WrongUse with a hint if an option is unknown or lacks its value, or if an
 * argument is missing.
 */
export function parseArguments(command: Command, args: readonly string[]): CommandInput {
  const options = { ...command.options, ...COMMON }
  const { tokens } = parseArgs({ args: [...args], options: parserOptions(options), strict: false, tokens: true })
  const values = new Map<string, string[]>()
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value)
    if (token.kind !== "option") continue
    const value = checkOption(options, token)
    const earlier = values.get(token.name)
    if (earlier && !options[token.name]?.repeated) throw new WrongUse(`--${token.name} can be given only once`)
    values.set(token.name, [...(earlier ?? []), value])
  }
  if (!values.has("help")) checkPositionals(command, positionals)
  const text = (option: string) => values.get(option)?.[0]
  return {
    positionals,
    text,
    texts: (option) => values.get(option),
    amount: (option) => wholeNumber(`--${option}`, text(option)),
    has: (option) => values.has(option),
  }
}

/** Parses a whole number. Throws WrongUse if the text is not one. */
export function wholeNumber<Text extends string | undefined>(
  what: string,
  text: Text,
): Text extends string ? number : number | undefined
export function wholeNumber(what: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text)) throw new WrongUse(`${what} must be a whole number`)
  return Number(text)
}

/** Returns the usage line of a command, such as "appmeter key revoke <id> [options]". */
export function usageLine({ name, positionals = [] }: Command): string {
  const shownWords = positionals.map((word) => {
    const bare = word.replace(/[?…]+$/, "")
    if (word.endsWith("…?")) return `[${bare}]…`
    if (word.endsWith("?")) return `[${bare}]`
    return word.endsWith("…") ? `<${bare}>…` : `<${bare}>`
  })
  return ["appmeter", name, ...shownWords, "[options]"].join(" ")
}

function parserOptions(options: Record<string, Option>) {
  const entries = Object.entries(options).map(([name, { value }]) => [name, { type: value ? "string" : "boolean" }])
  const parsed = Object.fromEntries(entries) as Record<string, { type: "string" | "boolean"; short?: string }>
  if (parsed.help) parsed.help.short = "h"
  return parsed
}

interface OptionToken {
  name: string
  rawName: string
  value?: string | undefined
  inlineValue?: boolean | undefined
}

function checkOption(options: Record<string, Option>, { name, rawName, value, inlineValue }: OptionToken): string {
  // own properties only: --constructor is not an option
  const option = Object.hasOwn(options, name) ? options[name] : undefined
  if (!option) {
    const meant = nearest(name, Object.keys(options))
    throw new WrongUse(`unknown option ${rawName.slice(0, 60)}${meant ? `; did you mean --${meant}?` : "; see --help"}`)
  }
  if (!option.value && value !== undefined) throw new WrongUse(`--${name} takes no value`)
  // in "--name --json" the value of --name is missing; in "--name=--json" it is "--json"
  const isMissing = value === undefined || value === "" || (!inlineValue && value.startsWith("--"))
  if (option.value && isMissing) throw new WrongUse(`--${name} needs a value: ${option.value}`)
  return value ?? ""
}

function checkPositionals(command: Command, given: readonly string[]): void {
  const { positionals: declared = [] } = command
  const required = declared.filter((word) => !word.endsWith("?"))
  const missing = required[given.length]
  if (missing) throw new WrongUse(`<${missing.replace("…", "")}> is missing: ${usageLine(command)}`)
  if (given.includes("")) throw new WrongUse(`an argument is empty: ${usageLine(command)}`)
  const extra = given[declared.length]
  if (/…\??$/.test(declared.at(-1) ?? "") || extra === undefined) return
  throw new WrongUse(`${JSON.stringify(extra.slice(0, 60))} is an unexpected argument: ${usageLine(command)}`)
}
