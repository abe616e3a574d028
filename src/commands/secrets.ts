import { reseal } from "../access/reseal.ts"
import { createSealer } from "../access/sealed.ts"
import { type Command, CommandProblem } from "./cli/command.ts"
import { show } from "./cli/show.ts"
import { useDatabase } from "./cli/with-database.ts"

export const secretsReseal: Command = {
  name: "secrets reseal",
  changes: true,
  summary: "Encrypt stored secrets again with the current SECRET_KEY.",
  details: "Shows whether SECRET_KEY_PREVIOUS can be removed. Exit code 1 if a secret cannot be decrypted.",
  examples: [["secrets reseal", "run it once every process has the new key, also while a server runs"]],
  async run(invocation) {
    const { secretKeys } = invocation.settings
    if (!secretKeys)
      throw new CommandProblem("SECRET_KEY is not set; set it to the key that should encrypt the secrets")
    const sealer = await createSealer(secretKeys)
    const done = await useDatabase(invocation, (sql) => reseal(sql, sealer))
    const { resealed, newest, unreadable } = done
    show(invocation, { ...done, previousMayGo: unreadable === 0 }, () => [
      `${resealed} encrypted again; ${newest} in total are encrypted with SECRET_KEY`,
      unreadable === 0
        ? "SECRET_KEY_PREVIOUS can be removed once no other process uses an earlier SECRET_KEY. " +
          "Older backups still need it"
        : `${unreadable} cannot be decrypted: add their key to SECRET_KEY_PREVIOUS, ` +
          "or remove and add their channels again (appmeter channel list)",
    ])
    return unreadable === 0 ? 0 : 1
  },
}
