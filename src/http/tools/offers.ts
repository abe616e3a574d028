import type { Operation, Toolset } from "../../core/operation.ts"

/** What assistants are offered besides tools. Whatever is read for it goes through operations, as their callers may. */
export interface Offers {
  prompts: readonly Prompt[]
  documents: readonly Document[]
  record: RecordKind
  completions: Readonly<Record<string, Completion>>
}

/** A way to work that a person picks by name, often as a command after a slash. */
export interface Prompt {
  name: string
  title: string
  description: string
  /** The toolsets that it leads to: it is offered where all of them are. */
  toolsets: readonly Toolset[]
  arguments: readonly PromptArgument[]
  /** What the person says by picking it. */
  text(given: Readonly<Record<string, string>>): string
}

export interface PromptArgument {
  name: string
  description: string
  required: boolean
}

interface Document {
  uri: string
  name: string
  title: string
  description: string
  mimeType: string
  text(): string
}

/** What an operation answers about one of many, each with an address of its own: `prefix` and its id. */
export interface RecordKind {
  /** "appmeter://apps/" */
  prefix: string
  /** What stands behind it: the operation's input of that name. */
  variable: string
  name: string
  title: string
  description: string
  toolset: Toolset
  read: Operation
  /** All that the caller may see, at no charge. */
  list: RecordList
}

/** A read whose answer names the ids of a kind. */
interface RecordList {
  operation: Operation
  of(answer: unknown): { id: string; title: string }[]
}

export interface Completion {
  operation: Operation
  /** What to ask, of the arguments that are given already; null = more of them must be. */
  input(given: Readonly<Record<string, string>>): Record<string, unknown> | null
  /** Candidates by what they may be found: a value, and other words that a person would type for it. */
  of(answer: unknown, given: Readonly<Record<string, string>>): readonly Candidate[]
}

export interface Candidate {
  value: string
  also?: string
}
