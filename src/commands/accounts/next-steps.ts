import { accountKind } from "../../consoles/account-kinds.ts"
import type { AccountRow } from "../../consoles/register.ts"
import { isStoreId } from "../../lib/store-ids.ts"
import { printable } from "../cli/show.ts"

const SHOWN_APPS = 5

/**
 * Returns the next steps for an account that was just added: which data is read now, or why none is read, and what is
 * missing.
 */
export function nextSteps({ id, kind: name, state, why, apps }: AccountRow): string[] {
  const { begins, needsAsking, store = "ios" } = accountKind(name)
  const isRead = state === "ok"
  const tracked = apps.filter(({ appId }) => appId !== null)
  const untracked = apps.filter(({ appId }) => appId === null).slice(0, SHOWN_APPS)
  return [
    isRead
      ? `  a running server now reads: ${begins}`
      : `  nothing is read yet: ${why ?? state}. Fix it, then run: appmeter account test ${id}`,
    ...(isRead && needsAsking
      ? tracked
          .slice(0, SHOWN_APPS)
          .map(({ outsideId }) => `  not read until you request it: ${needsAsking(id, outsideId)}`)
      : []),
    ...untracked.map(
      ({ outsideId, name: app }) =>
        `  to see the figures of ${printable(app)}: ` +
        `appmeter app add ${printable(JSON.stringify(app))} ` +
        `--${isStoreId("android", outsideId) ? "android" : store} ${outsideId}`,
    ),
  ]
}
