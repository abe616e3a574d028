import { createAnalyticsRequest } from "../../consoles/seller/request-analytics.ts"
import { askConsole, WORKSPACE } from "../account.ts"
import { type Command, WrongUse } from "../cli/command.ts"
import { readSecret } from "../cli/read-secret.ts"
import { show } from "../cli/show.ts"

export const accountAnalytics: Command = {
  name: "account analytics",
  changes: true,
  summary: "Request daily App Store Connect analytics reports for an app.",
  details: "get_funnel is computed from them. Needs a key with the role Admin, which is used once and not stored.",
  examples: [
    [
      "account analytics ac_0123456789abcdef01 310633997 --key-id 7K2M9PQRST --key-file Admin.p8",
      "first data within two days",
    ],
  ],
  positionals: ["id", "store-id"],
  options: {
    workspace: WORKSPACE,
    "key-id": { value: "ID", meaning: "The Admin key's id; the account's own key is tried when left out." },
    "key-file": { value: "FILE", meaning: "Its .p8 file; - reads it from stdin." },
  },
  async run(invocation) {
    const [id, app] = invocation.positionals as [string, string]
    const [keyId, file] = [invocation.text("key-id"), invocation.text("key-file")]
    if ((keyId === undefined) !== (file === undefined)) throw new WrongUse("--key-id and --key-file belong together")
    const once =
      keyId === undefined || file === undefined
        ? {}
        : { once: { keyId, privateKey: await readSecret(invocation, file, "the key") } }
    const isNew = await askConsole(invocation, (register, workspaceId) =>
      createAnalyticsRequest(register, workspaceId, { id, app, ...once }),
    )
    show(invocation, { app, requested: isNew }, () => [
      isNew ? `asked for reports of ${app}; the first comes within two days` : `reports of ${app} are made already`,
    ])
    return 0
  },
}
