/** What was found out about one thing. */
export interface Finding {
  thing: string
  /** A warning works today; a problem does not, or is not safe. */
  state: "ok" | "warning" | "problem"
  /** One line, without a secret. */
  says: string
  /** The command or the setting that mends it; null when nothing is to mend. */
  fix: string | null
}

export const ok = (thing: string, says: string): Finding => ({ thing, state: "ok", says, fix: null })

export const warning = (thing: string, says: string, fix: string): Finding => ({ thing, state: "warning", says, fix })

export const problem = (thing: string, says: string, fix: string): Finding => ({ thing, state: "problem", says, fix })
