import { type Command, firstArgument } from "../cli/command.ts"
import { readSecret } from "../cli/read-secret.ts"
import { findOneApp, useKeyedOperations } from "../reading/ask.ts"
import { approveAndWrite, WRITE_OPTIONS } from "./approve-and-write.ts"

const APP = { country: { value: "CODE", meaning: "The storefront. Default: the app's main storefront." } }

export const share: Command = {
  name: "share",
  summary: "Create a public link to an app's current ranks and store pages.",
  details: "Everybody who has the link can open the page. The key in APPMETER_KEY is charged.",
  examples: [
    ["share 'Tide Times'", "for 7 days, the app's main storefront"],
    ["share 'Tide Times' --country de --days 30 --password -", "readers need the password, which is read from stdin"],
  ],
  positionals: ["app"],
  options: {
    ...APP,
    days: { value: "NUMBER", meaning: "Days until the link expires, 1 to 30. Default: 7." },
    password: { value: "FILE", meaning: "File with the password, or - for stdin." },
    ...WRITE_OPTIONS,
  },
  async run(invocation) {
    const { text, amount } = invocation
    const file = text("password")
    const password = file === undefined ? undefined : await readSecret(invocation, file, "the password")
    const days = amount("days")
    return await useKeyedOperations(invocation, async (ask) => {
      const app = await findOneApp(ask, firstArgument(invocation))
      const country = text("country")?.toLowerCase() ?? app.countries[0]
      const args = { appId: app.id, country, ...(days !== undefined && { days }), ...(password && { password }) }
      return await approveAndWrite(invocation, ask, { action: "create_share_link", args })
    })
  },
}

export const exportCommand: Command = {
  name: "export",
  summary: "Export an app's keywords, rank history or reviews and print the link.",
  details: "The key in APPMETER_KEY is charged.",
  examples: [
    ["export 'Tide Times' history", "every measured day as CSV"],
    ["export 'Tide Times' reviews --platform android --format json", "reviews of one store as JSON"],
  ],
  positionals: ["app", "dataset"],
  options: {
    ...APP,
    platform: { value: "STORE", meaning: "ios or android. Default: ios." },
    format: { value: "FORMAT", meaning: "csv or json. Default: csv." },
    from: { value: "YYYY-MM-DD", meaning: "The first day of history or reviews." },
    to: { value: "YYYY-MM-DD", meaning: "The last day." },
    ...WRITE_OPTIONS,
  },
  async run(invocation) {
    const { text, positionals } = invocation
    const [, dataset] = positionals
    const given = ["country", "platform", "format", "from", "to"].flatMap((name) => {
      const value = text(name)
      return value === undefined ? [] : [[name, value] as const]
    })
    return await useKeyedOperations(invocation, async (ask) => {
      const app = await findOneApp(ask, firstArgument(invocation))
      const args = { appId: app.id, dataset, ...Object.fromEntries(given) }
      return await approveAndWrite(invocation, ask, { action: "export_data", args })
    })
  },
}
