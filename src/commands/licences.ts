import { NOTICES_FILE, readCompiled } from "../database/assets.ts"
import { type Command, CommandProblem } from "./cli/command.ts"

export const licences: Command = {
  name: "licences",
  summary: "Print the licences of this program and of everything in it.",
  examples: [["licences | less", "the file NOTICES of a release"]],
  async run({ terminal }) {
    const notices = readCompiled(NOTICES_FILE)
    if (notices === null)
      throw new CommandProblem("only a build contains this list; a checkout has the packages' own in node_modules")
    terminal.out(notices)
    return 0
  },
}
