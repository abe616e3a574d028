import { ACCOUNT_KINDS, accountKind, takesWrites } from "../../consoles/account-kinds.ts"
import { findAccount } from "../../consoles/register.ts"
import { limitIn, WRITE_LIMIT_NAMES } from "../../consoles/writing/limits.ts"
import { setWrites } from "../../consoles/writing/writers.ts"
import {
  askConsole,
  neededIds,
  optionsOf,
  optionsOfKey,
  readKey,
  showAccount,
  useWorkspace,
  WORKSPACE,
} from "../account.ts"
import { type Command, WrongUse } from "../cli/command.ts"

export const accountWrites: Command = {
  name: "account writes",
  changes: true,
  summary: "Allow or forbid writes to an account. They are off by default.",
  details: "Each write is previewed, confirmed and counted against the limits.",
  examples: [
    ["account writes ac_0123456789abcdef01 on --limit writesADay=5", "write with the key that also reads the account"],
    ["account writes ac_… on --key-id 7K2M9PQRST --key-file Writer.p8", "use a separate key, which is checked first"],
    ["account writes ac_… off", "destroy the separate key"],
  ],
  positionals: ["id", "on|off"],
  options: {
    workspace: WORKSPACE,
    ...optionsOf(ACCOUNT_KINDS.filter(({ name }) => takesWrites(name)).flatMap(optionsOfKey)),
    limit: {
      value: "NAME=VALUE",
      meaning: `Upper limit of writes, in the account's currency: ${WRITE_LIMIT_NAMES.join(", ")}.`,
      repeated: true,
    },
  },
  async run(invocation) {
    const [id, word] = invocation.positionals as [string, string]
    if (word !== "on" && word !== "off") throw new WrongUse("the second argument must be on or off")
    const { kind: name } = await useWorkspace(invocation, (sql, workspace) => findAccount(sql, workspace, id))
    const kind = accountKind(name)
    if (!takesWrites(name)) throw new WrongUse(`${kind.title} does not support writes`)
    const hasKey = kind.secret !== null && invocation.text(kind.secret.option) !== undefined
    const key = hasKey ? { ...neededIds(invocation, kind, "fresh"), ...(await readKey(invocation, kind)) } : undefined
    const limits = Object.assign({}, ...(invocation.texts("limit") ?? []).map(limitIn))
    const change = { on: word === "on", key, limits }
    showAccount(
      invocation,
      await askConsole(invocation, (register, workspace) => setWrites(register, workspace, id, change)),
    )
    return 0
  },
}
