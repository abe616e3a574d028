import type { RedisWire } from "../../access/limits/redis-wire.ts"
import type { OperatorAction } from "../../access/operator-actions.ts"
import type { Settings } from "../../settings/settings.ts"

/** 0 success, 1 failure, 2 wrong usage, 78 invalid settings. */
export type ExitCode = 0 | 1 | 2 | 78

export interface Command {
  /** The words to type, such as "key create". */
  name: string
  /** An imperative of at most 72 characters. */
  summary: string
  /** More sentences for the command's help. */
  details?: string
  /** Examples at the top of the help: the words after "appmeter", and their effect. */
  examples: [typed: string, does: string][]
  /**
   * Names of the arguments in order. "?" marks an optional one, "…" takes all remaining arguments, "…?" takes any
   * number of them.
   */
  positionals?: string[]
  options?: Record<string, Option>
  /** True if the command writes log lines to stderr, including warnings about settings. */
  logs?: true
  /** True if the command changes shared data. The audit then records who ran it. */
  changes?: true
  run(invocation: Invocation): Promise<ExitCode>
}

export interface Option {
  meaning: string
  /** Placeholder of the value in the help. An option without a placeholder is a switch. */
  value?: string
  /** True if the option can be given several times. */
  repeated?: true
}

/** A command with its arguments and settings. */
export interface Invocation {
  /** The entry for the audit log. Undefined if the command changes nothing. */
  recorded?: Pick<OperatorAction, "actor" | "command" | "typed">
  positionals: string[]
  /** Returns the value of an option. Undefined if it was not given. */
  text(option: string): string | undefined
  texts(option: string): string[] | undefined
  /** Returns the value as a whole number. Throws WrongUse if it is not one. */
  amount(option: string): number | undefined
  /** Returns whether the option was given. */
  has(option: string): boolean
  settings: Settings
  terminal: Terminal
  process: ProcessPort
}

/** Returns the first argument. Throws WrongUse if it is missing. */
export function firstArgument({ positionals }: Pick<Invocation, "positionals">): string {
  const [first] = positionals
  if (first === undefined) throw new WrongUse("an argument is missing; see --help")
  return first
}

/** Output of a command: data to stdout, messages to stderr. */
export interface Terminal {
  /** Writes data to stdout. */
  out(text: string): void
  /** Writes one JSON document to stdout. */
  json(value: unknown): void
  /** Writes a message line to stderr. */
  say(line: string): void
  /** Writes log lines to stderr, unchanged. */
  err(text: string): void
  /** Returns whether stderr is a terminal. */
  isWatched(): boolean
  /** Replaces the progress line. Does nothing if stderr is not a terminal. */
  progress(line: string): void
  /** Returns bold text, or plain text with NO_COLOR or in a pipe. */
  bold(text: string): string
  /**
   * Returns coloured text, or plain text with NO_COLOR or in a pipe. Colour must never be the only sign of a meaning.
   */
  paint(tone: Tone, text: string): string
  /** Returns the width of stdout. Undefined in a pipe, where nothing is cut. */
  columns(): number | undefined
  /** Asks for a confirmation. Throws CommandProblem if the answer is not yes, or if there is no terminal to ask on. */
  confirm(question: string): Promise<void>
  /** Returns the bytes of stdin. Throws CommandProblem if stdin is a terminal. */
  stdin(): AsyncIterable<Uint8Array>
  /** Resolves when all output has been written. */
  flush(): Promise<void>
}

export type Tone = "good" | "bad" | "faint"

/** Functions of the runtime that commands need. */
export interface ProcessPort {
  /** Opens a port. Throws an error with a `code` such as EADDRINUSE. */
  listen(options: ListenOptions): ListeningProcess
  /** Connects in the background to the Redis at a redis:// or rediss:// address. */
  redisWire(url: string): RedisWire
  /** Sets the handler of SIGTERM, SIGINT and uncaught errors. */
  onStop(stop: (why: StopReason, error?: unknown) => void): void
  /** Exits immediately. */
  exit(code: number): never
}

export type StopReason = "SIGTERM" | "SIGINT" | "error"

export interface ListenOptions {
  host: string
  port: number
  fetch(request: Request, peer: string | null): Response | Promise<Response>
}

export interface ListeningProcess {
  port: number
  /** Accepts no more connections and resolves when all open requests are answered. With `now`, drops open requests. */
  stop(now?: boolean): Promise<void>
}

/** The arguments are invalid: exit code 2. */
export class WrongUse extends Error {
  override name = "WrongUse"
}

/** The command failed for the reason in the one-line message: exit code 1. */
export class CommandProblem extends Error {
  override name = "CommandProblem"
}
