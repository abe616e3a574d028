import { createCode, signInLinkOf } from "../access/sign-in/code.ts"
import { listeningUrl, type Settings } from "../settings/settings.ts"
import type { Command } from "./cli/command.ts"
import { show } from "./cli/show.ts"
import { chooseWorkspace, useDatabase } from "./cli/with-database.ts"

export const signIn: Command = {
  name: "sign-in",
  changes: true,
  summary: "Print a one-time code and link that sign a person in.",
  details: "Valid for ten minutes. Without --person it is for the workspace's owner.",
  examples: [
    ["sign-in", "open the link, or type the code on the sign-in page"],
    ["sign-in --workspace acme --person ada", "for another person, such as one who forgot the passphrase"],
  ],
  options: {
    workspace: { value: "NAME", meaning: "The workspace. Optional if there is only one." },
    person: { value: "NAME", meaning: "A person of the workspace. Default: its first owner." },
  },
  async run(invocation) {
    const { code, workspace } = await useDatabase(invocation, async (sql) => {
      const { id, name } = await chooseWorkspace(sql, invocation.text("workspace"))
      return { code: await createCode(sql, id, invocation.text("person")), workspace: name }
    })
    const url = signInLinkOf(addressOf(invocation.settings), code)
    show(invocation, { workspace, code, url }, () => [code, url])
    return 0
  },
}

/** Returns the address where people open this instance. */
export function addressOf({ publicUrl, host, port }: Settings): string {
  return publicUrl ?? listeningUrl(host, port)
}
