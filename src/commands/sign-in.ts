import { randomBytes } from "node:crypto"
import { createCode, signInLinkOf } from "../access/sign-in/code.ts"
import { makePassphrase, removePassphrase, setPassphrase } from "../access/sign-in/passphrase.ts"
import { findWorkspace } from "../access/workspaces.ts"
import { listeningUrl } from "../settings/settings.ts"
import { type Command, firstArgument, WrongUse } from "./cli/command.ts"
import { readSecret } from "./cli/read-secret.ts"
import { show } from "./cli/show.ts"
import { chooseWorkspace, useDatabase } from "./cli/with-database.ts"

export const signIn: Command = {
  name: "sign-in",
  changes: true,
  summary: "Print a one-time code and link to sign in as a workspace's owner.",
  details: "Valid for ten minutes.",
  examples: [["sign-in --workspace acme", "open the link, or type the code on the sign-in page"]],
  options: { workspace: { value: "NAME", meaning: "The workspace. Optional if there is only one." } },
  async run(invocation) {
    const { code, workspace } = await useDatabase(invocation, async (sql) => {
      const { id, name } = await chooseWorkspace(sql, invocation.text("workspace"))
      return { code: await createCode(sql, id), workspace: name }
    })
    const { publicUrl, host, port } = invocation.settings
    const url = signInLinkOf(publicUrl ?? listeningUrl(host, port), code)
    show(invocation, { workspace, code, url }, () => [code, url])
    return 0
  },
}

export const workspacePassphrase: Command = {
  name: "workspace passphrase",
  changes: true,
  summary: "Set or remove the passphrase of a workspace's owner.",
  details: "Ends every browser session of the workspace.",
  examples: [
    ["workspace passphrase acme", "create a passphrase and show it once"],
    ["workspace passphrase acme --file passphrase.txt", "set your own passphrase; - reads it from stdin"],
    ["workspace passphrase acme --remove", "then only codes of appmeter sign-in work"],
  ],
  positionals: ["name"],
  options: {
    file: { value: "FILE", meaning: "File with the passphrase (at least 12 characters), or - for stdin." },
    remove: { meaning: "Remove the passphrase." },
  },
  async run(invocation) {
    const { text, has, terminal } = invocation
    const file = text("file")
    if (file !== undefined && has("remove")) throw new WrongUse("give either --file or --remove, not both")
    const own = file === undefined ? undefined : await readSecret(invocation, file, "the passphrase")
    const passphrase = own ?? makePassphrase(randomBytes)
    const workspace = await useDatabase(invocation, async (sql) => {
      const { id, name } = await findWorkspace(sql, firstArgument(invocation))
      await (has("remove") ? removePassphrase(sql, id) : setPassphrase(sql, id, passphrase))
      return name
    })
    const made = own === undefined && !has("remove")
    show(invocation, { workspace, ...(made && { passphrase }) }, () => (made ? [passphrase] : []))
    if (made && !has("json")) terminal.say("Save it now: it is not stored and cannot be shown again.")
    return 0
  },
}
