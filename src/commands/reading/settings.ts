import { describedSettings, settingsTable } from "../../settings/settings.ts"
import type { Command } from "../cli/command.ts"
import { show } from "../cli/show.ts"

export const settingsCommand: Command = {
  name: "settings",
  summary: "List every setting with its environment variable, default and meaning.",
  examples: [["settings", "list all settings"]],
  async run(invocation) {
    show(invocation, { settings: describedSettings() }, () => settingsTable().split("\n"))
    return 0
  },
}
