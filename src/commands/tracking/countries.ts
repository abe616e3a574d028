import { addCountries, removeCountries } from "../../tracking/countries.ts"
import type { Command } from "../cli/command.ts"
import { show } from "../cli/show.ts"
import { useDatabase } from "../cli/with-database.ts"
import { assertWithin } from "./app.ts"
import { readWorkspace } from "./keywords.ts"

const POSITIONALS = ["app-id", "country…"]

export const countryAdd: Command = {
  name: "app country add",
  changes: true,
  summary: "Track an app in more storefronts.",
  examples: [
    ["app country add app_4fD0Zs81hQbK de fr --like us", "with its keywords of the United States"],
    ["app country add app_4fD0Zs81hQbK jp", "without keywords"],
  ],
  positionals: POSITIONALS,
  options: { like: { value: "CODE", meaning: "Also track this storefront's keywords in the added storefronts." } },
  async run(invocation) {
    const [id = "", ...codes] = invocation.positionals
    const result = await useDatabase(invocation, async (sql) => {
      const workspace = await readWorkspace(sql, id)
      return await sql.begin(async (tx) => {
        const outcome = await addCountries(tx, id, codes, invocation.text("like")?.toLowerCase())
        if (outcome.keywords > 0) await assertWithin(tx, workspace, "keywords")
        return outcome
      })
    })
    const { added, alreadyTracked, keywords } = result
    show(invocation, result, () => [
      ...added.map((code) => `added: ${code}${keywords > 0 ? `, ${keywords / added.length} keywords` : ""}`),
      ...alreadyTracked.map((code) => `already tracked: ${code}`),
    ])
    return 0
  },
}

export const countryRemove: Command = {
  name: "app country remove",
  changes: true,
  summary: "Stop tracking an app in storefronts and remove its keywords there.",
  details: "Measured data is kept.",
  examples: [["app country remove app_4fD0Zs81hQbK fr --force", "skip the confirmation"]],
  positionals: POSITIONALS,
  options: { force: { meaning: "Skip the confirmation." } },
  async run(invocation) {
    const [id = "", ...codes] = invocation.positionals
    const removed = await useDatabase(invocation, async (sql) => {
      await readWorkspace(sql, id)
      if (!invocation.has("force"))
        await invocation.terminal.confirm(`Its keywords in ${codes.join(", ")} will not be tracked any longer.`)
      return await sql.begin((tx) => removeCountries(tx, id, codes))
    })
    show(invocation, { id, removed }, () => removed.map((code) => `removed: ${code}`))
    return 0
  },
}
