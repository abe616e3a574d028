import type { RandomBytes } from "../../lib/text.ts"
import type { ChannelSecret, Message, SendPort, SendResult } from "./message.ts"

/** One thing that a person enters to add a channel, on the page or in the terminal. */
export interface ChannelField {
  name: string
  /** Shown on the page. */
  label: string
  /** Shown on the page below the field. */
  hint: string
  /** Used in messages of the terminal: "the address". */
  noun: string
  /** The page never shows it again, and the terminal reads it from a file or stdin. */
  isSecret?: boolean
  isOptional?: boolean
  /**
   * The option of `channel add`. A secret has two, with "-file" and "-stdin" after the name. Omitted for the field that
   * is the command's argument.
   */
  option?: { name: string; value: string; meaning: string }
}

/** A checked entry, ready to be stored. */
interface CheckedChannel<Secret extends ChannelSecret = ChannelSecret> {
  /** The part of the address that pages and lists may show. */
  shown: string
  secret: Secret
  /** Verifies messages at the receiver, and is shown once. Only webhooks have it. */
  signingSecret?: string
}

/**
 * A kind of channel. Page, terminal, manual, API values and delivery follow from this declaration and its line in
 * channel-kinds.ts.
 */
export interface ChannelKind<Secret extends ChannelSecret = ChannelSecret> {
  title: string
  /** Button of the form that adds one. */
  button: string
  fields: readonly ChannelField[]
  /** Help of `channel add`: an imperative of at most 72 characters, further sentences, and command lines. */
  summary: string
  details?: string
  examples: readonly (readonly [arguments: string, meaning: string])[]
  /** For the manual: the longest message, and what ends the channel. */
  limit: string
  ends: string
  /** Minimum time between two messages of a channel. */
  gapMs: number
  /** One message per event. False: one per alert, for programs. */
  isGrouped: boolean
  /** It goes to a member of the workspace, whose name is the entry `person`. Others have an address of their own. */
  isPersonal?: true
  /** Throws AccessProblem that names the field. Optional fields that were not entered are "". */
  check(entered: ChannelSecret, randomBytes: RandomBytes): CheckedChannel<Secret>
  /** Makes one attempt. Throws only if we aborted it. */
  send(secret: Secret, message: Message, port: SendPort): Promise<SendResult>
}
