import type { Operation, Toolset } from "../../core/operation.ts"

/** Prompts and resources offered to assistants. Their data is read by operations, with the caller's rights. */
export interface Offers {
  prompts: readonly Prompt[]
  documents: readonly Document[]
  record: RecordKind
  completions: Readonly<Record<string, Completion>>
}

/** A workflow that a person picks by name, often as a slash command. */
export interface Prompt {
  name: string
  title: string
  description: string
  /** The toolsets that the prompt uses. It is offered only if all of them are open. */
  toolsets: readonly Toolset[]
  arguments: readonly PromptArgument[]
  /** Returns the message that picking the prompt sends. */
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

/** Resources that an operation returns one by one. The address is `prefix` and the id. */
export interface RecordKind {
  /** "appmeter://apps/" */
  prefix: string
  /** The operation's input that takes the id. */
  variable: string
  name: string
  title: string
  description: string
  toolset: Toolset
  read: Operation
  /** Lists all records that the caller has access to, free of charge. */
  list: RecordList
}

/** A read whose answer contains the ids of a kind of record. */
interface RecordList {
  operation: Operation
  of(answer: unknown): { id: string; title: string }[]
}

export interface Completion {
  operation: Operation
  /** Returns the input of the operation. Null if other arguments must be filled in first. */
  input(given: Readonly<Record<string, string>>): Record<string, unknown> | null
  /** Returns candidates. Each has a value, and other words that a person may type for it. */
  of(answer: unknown, given: Readonly<Record<string, string>>): readonly Candidate[]
}

export interface Candidate {
  value: string
  also?: string
}
