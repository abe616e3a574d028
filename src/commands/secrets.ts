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
  examples: [["secrets reseal", "once every process has the new key; the server may run meanwhile"]],
  async run(invocation) {
    const { secretKeys } = invocation.settings
    if (!secretKeys) throw new CommandProblem("SECRET_KEY is not set: nothing can be sealed anew without it")
    const sealer = await createSealer(secretKeys)
    const done = await useDatabase(invocation, (sql) => reseal(sql, sealer))
    const { resealed, newest, unreadable } = done
    show(invocation, { ...done, previousMayGo: unreadable === 0 }, () => [
      `${resealed} sealed anew; ${newest} in all are under SECRET_KEY`,
      unreadable === 0
        ? "SECRET_KEY_PREVIOUS may go, once no other process has an earlier SECRET_KEY; backups made before need it still"
        : `${unreadable} cannot be opened: put the key that sealed them into SECRET_KEY_PREVIOUS, or remove and add again what they belong to (appmeter channel list)`,
    ])
    return unreadable === 0 ? 0 : 1
  },
}
