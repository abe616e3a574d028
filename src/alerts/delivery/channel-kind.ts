import type { RandomBytes } from "../../lib/text.ts"
import type { ChannelSecret, Message, SendPort, SendResult } from "./message.ts"

/** A value that a person enters to add a channel, on the page or in the terminal. */
export interface ChannelField {
  name: string
  /** Shown on the page. */
  label: string
  /** Shown on the page below the field. */
  hint: string
  /** Used in messages of the terminal: "the address". */
  noun: string
  /** True for a secret: the page never shows it again, and the terminal reads it from a file or stdin. */
  isSecret?: boolean
  isOptional?: boolean
  /**
   * The option of `channel add`. A secret has two options, whose names end with "-file" and "-stdin". Omitted for the
   * field that is the command's argument.
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
  /** Label of the button of the form that adds a channel. */
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
  /** True: one message per event. False: one message per alert, for programs. */
  isGrouped: boolean
  /**
   * True if messages go to a member of the workspace, whose name is the entry `person`. Other channels have an address
   * of their own.
   */
  isPersonal?: true
  /** Throws AccessProblem that names the field. Optional fields that were not entered are "". */
  check(entered: ChannelSecret, randomBytes: RandomBytes): CheckedChannel<Secret>
  /** Makes one attempt. Throws only if we aborted it. */
  send(secret: Secret, message: Message, port: SendPort): Promise<SendResult>
}
