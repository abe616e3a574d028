import type { RedisWire } from "../../access/limits/redis-wire.ts"
import type { OperatorAction } from "../../access/operator-actions.ts"
import type { Settings } from "../../settings/settings.ts"

/** 0 done, 1 failed, 2 wrong use, 78 wrong settings. */
export type ExitCode = 0 | 1 | 2 | 78

export interface Command {
  /** As typed, "key create". */
  name: string
  /** An imperative of at most 72 characters. */
  summary: string
  /** Further sentences for the command's own help. */
  details?: string
  /** Shown first in the help: what is typed after "appmeter", and what it does. */
  examples: [typed: string, does: string][]
  /** In order; those that may be left out end in "?", one that takes the rest ends in "…" or, where that may be none, "…?". */
  positionals?: string[]
  options?: Record<string, Option>
  /** Its stderr is a log, warnings about settings included. */
  logs?: true
  /** It changes what others work with: who typed it stands in the audit. */
  changes?: true
  run(invocation: Invocation): Promise<ExitCode>
}

export interface Option {
  meaning: string
  /** What stands for the value in the help; an option without one is a switch. */
  value?: string
  /** May be given several times. */
  repeated?: true
}

/** One command as it was typed, with the settings it runs under. */
export interface Invocation {
  /** How the audit knows it; left out where it changes nothing. */
  recorded?: Pick<OperatorAction, "actor" | "command" | "typed">
  positionals: string[]
  /** The value of an option, undefined when it was not given. */
  text(option: string): string | undefined
  texts(option: string): string[] | undefined
  /** A whole number. Throws WrongUse when it is none. */
  amount(option: string): number | undefined
  /** Whether a switch was given. */
  has(option: string): boolean
  settings: Settings
  terminal: Terminal
  process: ProcessPort
}

/** The first argument of a command that takes one. Throws WrongUse if it is missing. */
export function firstArgument({ positionals }: Pick<Invocation, "positionals">): string {
  const [first] = positionals
  if (first === undefined) throw new WrongUse("an argument is missing; see --help")
  return first
}

/** Where a command speaks: data on stdout, talk on stderr. */
export interface Terminal {
  /** Writes data. */
  out(text: string): void
  /** Writes one JSON document. */
  json(value: unknown): void
  /** Writes a line of talk. */
  say(line: string): void
  /** Writes to stderr as it is, for log lines. */
  err(text: string): void
  /** Whether a person reads stderr as it comes. */
  isWatched(): boolean
  /** Shows a line of progress in place of the last one; nothing where stderr is no terminal. */
  progress(line: string): void
  /** Text made bold, unless NO_COLOR or a pipe forbids it. */
  bold(text: string): string
  /** Text in green, red or grey, under the same conditions. Never the only thing that says what it says. */
  paint(tone: Tone, text: string): string
  /** How many columns stdout shows; undefined in a pipe, where nothing is cut. */
  columns(): number | undefined
  /** Asks before something is destroyed. Without a terminal nothing is asked. Throws CommandProblem unless it is agreed. */
  confirm(question: string): Promise<void>
  /** Lines of stdin. Throws CommandProblem when stdin is a terminal. */
  stdin(): AsyncIterable<Uint8Array>
  /** Resolves when everything written has left. */
  flush(): Promise<void>
}

export type Tone = "good" | "bad" | "faint"

/** What a command needs of the runtime. */
export interface ProcessPort {
  /** Listens. Throws an error with `code` EADDRINUSE and the like. */
  listen(options: ListenOptions): ListeningProcess
  /** Connects to the Redis at a redis:// or rediss:// address, in the background. */
  redisWire(url: string): RedisWire
  /** Takes over each SIGTERM and SIGINT, and errors that nobody caught. */
  onStop(stop: (why: StopReason, error?: unknown) => void): void
  /** Ends the process at once. */
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
  /** Takes no new connection; resolves once every request under way is answered. With `now`, drops them. */
  stop(now?: boolean): Promise<void>
}

/** What was typed cannot be meant: exit code 2. */
export class WrongUse extends Error {
  override name = "WrongUse"
}

/** What was asked cannot be done, in one line: exit code 1. */
export class CommandProblem extends Error {
  override name = "CommandProblem"
}
