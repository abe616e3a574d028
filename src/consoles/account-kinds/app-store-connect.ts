import { AccessProblem } from "../../access/problem.ts"
import { CONSOLE_HOST } from "../../lib/upstreams.ts"
import type { AccountKind, AccountTurn } from "../account-kind.ts"
import { type Console, ConsoleProblem, openConsole } from "../console.ts"
import type { ConsoleKey } from "../credentials.ts"
import { lookAt } from "../look.ts"
import { readTasks } from "../read-tasks.ts"
import { createReportRequests } from "../report-versions.ts"
import { makeConsoleTasks, putOffDenied, readConsoleTask } from "../seller/console-tasks.ts"

export const appStoreConnect: AccountKind<ConsoleKey, Console> = {
  name: "app-store-connect",
  title: "App Store Connect",
  summary:
    "Connect the seller's console with a team key, stored encrypted with SECRET_KEY. Shows the rights of the key.",
  examples: [
    [
      "account add app-store-connect --issuer 69a6de70-… --key-id 2X9R4HXF34 --key-file AuthKey.p8 --vendor 85012345",
      "shows the rights of the key and the apps of the account",
    ],
    ["account add app-store-connect --issuer … --key-id … --key-file - --vendor … < AuthKey.p8", "from stdin"],
  ],
  ids: {
    issuer: { option: "issuer", value: "ID", meaning: "The issuer id, above the console's list of team keys." },
    keyId: {
      option: "key-id",
      value: "ID",
      meaning: "The key's id, from the same list. The role Sales is enough for reading.",
      fresh: true,
    },
  },
  secret: {
    name: "privateKey",
    option: "key-file",
    value: "FILE",
    meaning: "The .p8 file, which the console lets you download once.",
  },
  part: {
    name: "vendor",
    option: "vendor",
    value: "NUMBER",
    meaning: "The vendor number, in Payments and Financial Reports.",
  },
  check({ issuer, keyId }, vendor) {
    const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(issuer)
    if (!isUuid)
      throw new AccessProblem("an issuer id is a UUID, as the console shows it above its team keys", "issuer")
    if (!/^[A-Z0-9]{8,20}$/.test(keyId))
      throw new AccessProblem("a key id has about 10 capital letters and digits", "keyId")
    if (!/^\d{5,12}$/.test(vendor ?? ""))
      throw new AccessProblem("a vendor number has about 8 digits, as Payments and Financial Reports shows it", "part")
  },
  shown: ({ keyId }) => `key …${keyId.slice(-4)}`,
  open: (key, _, reach) => openConsole(key, reach.to(CONSOLE_HOST)),
  look: (console, vendor, now) => lookAt(console, vendor, now),
  begins: "sales, subscriptions and subscription events by day, from yesterday back to a year ago; prices once a day",
  needsAsking: (account, app) =>
    `impressions and page views of ${app}. A person with the role Admin requests them once: ` +
    `appmeter account analytics ${account} ${app}`,
  needs: ["apps", "sales"],
  read: readConsole,
}

/** Number of each hour's requests that are left for other programs that use the key. */
const MIN_REMAINING = 500
const QUARTER_MS = 15 * 60_000

async function readConsole(console: Console, turn: AccountTurn): Promise<number | null> {
  const hour = countHour(console)
  const parts = { ...turn, console: hour.console, requests: createReportRequests({ ...turn, console: hour.console }) }
  await makeConsoleTasks(turn.sql, turn.account.id, turn.now())
  return await readTasks(turn, {
    read: (task) => readConsoleTask(parts, task),
    putOffDenied: (task, failure) => putOffDenied(parts, task, failure),
    restMs: () => ((hour.left() ?? Infinity) <= MIN_REMAINING ? QUARTER_MS : null),
  })
}

/**
 * Wraps the console to track how many requests the key has left in this hour. Failed requests update the number too.
 */
function countHour(console: Console): { console: Console; left(): number | null } {
  let left: number | null = null
  const get: Console["get"] = async (path, signal) => {
    try {
      const answer = await console.get(path, signal)
      left = answer.hourLeft ?? left
      return answer
    } catch (error) {
      if (error instanceof ConsoleProblem) left = error.hourLeft ?? left
      throw error
    }
  }
  return { console: { ...console, get }, left: () => left }
}
