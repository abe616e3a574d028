import { loadDemoInto, removeAllOfDemo } from "../demo/load-at-start.ts"
import { recording } from "../recording.ts"
import type { Command } from "./cli/command.ts"
import { show, table } from "./cli/show.ts"
import { chooseWorkspace, useDatabase } from "./cli/with-database.ts"

export const demoLoad: Command = {
  name: "demo load",
  changes: true,
  summary: "Load the demo: recorded App Store results and invented owner data.",
  details: "Search results are of 2025-10-25. The owner's figures, the reviews and one app are invented.",
  examples: [["demo load", "can be repeated; loading again changes nothing"]],
  options: { workspace: { value: "NAME", meaning: "The workspace. Optional if there is only one." } },
  async run(invocation) {
    const loaded = await useDatabase(invocation, async (sql) => {
      const workspace = await chooseWorkspace(sql, invocation.text("workspace"))
      return await loadDemoInto(recording, sql, workspace.id)
    })
    show(invocation, loaded, () =>
      table(
        ["APP", "NAME"],
        loaded.apps.map(({ id, name }) => [id, name]),
      ),
    )
    return 0
  },
}

export const demoRemove: Command = {
  name: "demo remove",
  changes: true,
  summary: "Remove the demo data from every workspace.",
  details: "Demo apps that you changed are kept.",
  examples: [["demo remove --force", "no confirmation; no later start loads the demo again"]],
  options: { force: { meaning: "Skip the confirmation." } },
  async run(invocation) {
    const removed = await useDatabase(invocation, async (sql) => {
      if (!invocation.has("force"))
        await invocation.terminal.confirm(
          "This removes the readings, apps and invented accounts of the demo. " +
            "Apps to which you added keywords, tags, buried keywords, rivals or a goal are kept.",
        )
      return await removeAllOfDemo(sql)
    })
    show(invocation, { removed }, () => [
      `removed ${removed.apps} apps, ${removed.readings} readings and ${removed.accounts} invented accounts`,
      ...removed.kept.map(({ id, name }) => `kept ${id} (${name}): you changed it`),
    ])
    return 0
  },
}
