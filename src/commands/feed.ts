import { DATASETS, FEED_FORMATS } from "../sharing/feed/datasets.ts"
import { requestFeed } from "../sharing/feed/request.ts"
import { readVisibleApps } from "../tracking/tracked-app.ts"
import { type Command, CommandProblem, firstArgument, WrongUse } from "./cli/command.ts"
import { show } from "./cli/show.ts"
import { chooseWorkspace, useDatabase } from "./cli/with-database.ts"
import { addressOf } from "./sign-in.ts"

export const feedCreate: Command = {
  name: "feed create",
  changes: true,
  summary: "Create an address with an app's current alerts, reviews or ranks.",
  details:
    "Anyone with the address can read the feed until you withdraw it with appmeter link withdraw. The address is " +
    "shown only once. CSV is for IMPORTDATA of spreadsheets. Feeds never contain amounts of money and are free of " +
    "charge.",
  examples: [
    ["feed create 'Tide Times' alerts", "Atom for a feed reader"],
    ["feed create 'Tide Times' ranks --country de --columns term,rank", "a table of two columns"],
  ],
  positionals: ["app", "dataset"],
  options: {
    workspace: { value: "NAME", meaning: "The workspace. Optional if there is only one." },
    format: { value: "FORMAT", meaning: `${FEED_FORMATS.join(" or ")}. Default: atom; ranks: csv.` },
    country: { value: "CODE", meaning: "Storefront of reviews and ranks. Default: the app's first." },
    platform: { value: "STORE", meaning: "Store of reviews and ranks, ios or android. Default: ios." },
    columns: { value: "NAMES", meaning: "Columns of a CSV, separated by commas. Default: all." },
  },
  async run(invocation) {
    const { text, settings } = invocation
    const word = firstArgument(invocation)
    const [, dataset] = invocation.positionals
    if (dataset === undefined) throw new WrongUse(`give the content of the feed: ${DATASETS.join(", ")}`)
    const options = ["format", "platform", "country", "columns"] as const
    const given = Object.fromEntries(options.map((name) => [name, text(name) ?? ""])) as Record<
      (typeof options)[number],
      string
    >
    const created = await useDatabase(invocation, async (sql) => {
      const { id: workspaceId } = await chooseWorkspace(sql, text("workspace"))
      const apps = await readVisibleApps(sql, { workspaceId, appList: null })
      const app = apps.find(({ id, name }) => id === word || name.toLowerCase() === word.toLowerCase())
      if (!app)
        throw new CommandProblem(
          `the workspace has no app ${JSON.stringify(word.slice(0, 60))}; see: appmeter app list`,
        )
      const by = { workspaceId, keyId: null, publicUrl: addressOf(settings) }
      return await requestFeed(sql, app, by, { dataset, ...given })
    })
    show(invocation, created, () => [created.url])
    return 0
  },
}
