/** The result of one check. */
export interface Finding {
  thing: string
  /** "warning": it works now but may fail later. "problem": it does not work or is not safe. */
  state: "ok" | "warning" | "problem"
  /** The result in one line, without secrets. */
  says: string
  /** The command or setting that fixes it. Null if nothing needs fixing. */
  fix: string | null
}

export const ok = (thing: string, says: string): Finding => ({ thing, state: "ok", says, fix: null })

export const warning = (thing: string, says: string, fix: string): Finding => ({ thing, state: "warning", says, fix })

export const problem = (thing: string, says: string, fix: string): Finding => ({ thing, state: "problem", says, fix })
