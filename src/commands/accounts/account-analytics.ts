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
      "the first data arrives within two days",
    ],
  ],
  positionals: ["id", "store-id"],
  options: {
    workspace: WORKSPACE,
    "key-id": { value: "ID", meaning: "Id of the Admin key. Default: try the key of the account." },
    "key-file": { value: "FILE", meaning: "The .p8 file of the key, or - for stdin." },
  },
  async run(invocation) {
    const [id, app] = invocation.positionals as [string, string]
    const [keyId, file] = [invocation.text("key-id"), invocation.text("key-file")]
    if ((keyId === undefined) !== (file === undefined))
      throw new WrongUse("--key-id and --key-file must be given together")
    const once =
      keyId === undefined || file === undefined
        ? {}
        : { once: { keyId, privateKey: await readSecret(invocation, file, "the key") } }
    const isNew = await askConsole(invocation, (register, workspaceId) =>
      createAnalyticsRequest(register, workspaceId, { id, app, ...once }),
    )
    show(invocation, { app, requested: isNew }, () => [
      isNew
        ? `requested reports of ${app}; the first arrives within two days`
        : `reports of ${app} were requested before`,
    ])
    return 0
  },
}
