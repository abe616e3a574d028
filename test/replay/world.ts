import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { adsStandIn } from "../consoles/ads/stand-in.ts"
import { startStandIn } from "../consoles/stand-in.ts"
import { type AccountIds, accountReadings } from "./account-readings.ts"
import { ALL_TERMS, dayBefore, IOS_RIVALS, KETTLE, LEAF, publicReadings, TEA, UNREAD } from "./readings.ts"
import { type Build, cliJson } from "./server.ts"

/** Ids and secrets by the alias that calls use, because each imported world has its own: `{tea}`, `{key:full}`. */
export type Aliases = Record<string, string>

export interface World {
  aliases: Aliases
  /**
   * Name of the workspace that a key belongs to, by the key's name. Empty if the key does not belong to a workspace.
   */
  workspaceOf: Record<string, string>
}

/**
 * Stand-ins of the consoles to which both builds are connected. Each exists once, because a restored world has only one
 * key for it.
 */
export interface Consoles {
  /** Settings that connect a build to the stand-ins. */
  env: Record<string, string>
  seller: ReturnType<typeof startStandIn>
  ads: ReturnType<typeof adsStandIn>
  /** Restores the state before the writes. */
  reset(): void
  stop(): Promise<void>
}

export function openConsoles(now: Date): Consoles {
  const seller = startStandIn()
  seller.apps.push({ id: TEA.id, name: TEA.name, bundleId: TEA.bundleId, sku: TEA.sku })
  const ads = adsStandIn()
  const hosts = {
    "api.appstoreconnect.apple.com": seller.url,
    "api.ads.apple.com": ads.url,
    "appleid.apple.com": ads.url,
  }
  const reset = () => {
    const attributes = { rating: 2, title: "Crashes", body: "It crashes.", reviewerNickname: "n", territory: "USA" }
    const texts = (fields: object, id = "loc1") => [{ id, attributes: { locale: "en-US", ...fields } }]
    const version = { platform: "IOS", versionString: "4.3", appStoreState: "PREPARE_FOR_SUBMISSION" }
    const state = { appVersionState: "PREPARE_FOR_SUBMISSION", state: "PREPARE_FOR_SUBMISSION" }
    Object.assign(seller.shelf, {
      reviews: [
        { id: "rev1", attributes: { ...attributes, createdDate: `${dayBefore(now, 3)}T10:00:00Z` }, reply: null },
      ],
      versions: [
        {
          id: "ver1",
          attributes: { ...version, ...state },
          texts: texts({ description: "Counts minutes.", keywords: "tea,timer", whatsNew: "Better." }),
        },
      ],
      infos: [
        { id: "info1", attributes: { ...state }, texts: texts({ name: TEA.name, subtitle: "Brew well" }, "loc2") },
      ],
    })
    for (const list of [ads.accounts, ads.campaigns, ads.adgroups, ads.keywords, ads.negatives]) list.length = 0
    fillAds(ads, now)
  }
  reset()
  return {
    env: {
      UPSTREAM_URLS: Object.entries(hosts)
        .map(([host, url]) => `${host}=${url}`)
        .join(","),
    },
    seller,
    ads,
    reset,
    async stop() {
      await Promise.all([seller.stop(), ads.stop()])
    },
  }
}

/** Adds one campaign with an ad group and two keywords, as in the account's imported reports. */
function fillAds(ads: Consoles["ads"], now: Date): void {
  const currency = "EUR"
  const account = { id: 123456789, name: "Tea Service", orgId: 40669820, roles: ["API Account Manager"] }
  ads.accounts.push({ ...account, timezone: "Europe/Berlin", currency })
  const started = `${dayBefore(now, 60)}T09:00:00.000`
  ads.campaigns.push({
    id: 444555666,
    adAccountId: account.id,
    name: "Tea, Germany",
    status: "ENABLED",
    deleted: false,
    promotedObjectType: "APPSTORE_APP",
    promotedObjectId: TEA.id,
    supplyPlacement: "APPSTORE_SEARCH_RESULTS",
    systemStatus: "RUNNING",
    systemStatusReasons: [],
    displayStatus: "RUNNING",
    bidStrategy: "MANUAL_CPT",
    dailyBudget: { value: { amount: "20", currency } },
    targeting: { countryOrRegion: { include: ["DE", "US"] } },
    startTime: started,
    creationTime: started,
  })
  const ids = { campaignId: 444555666, adGroupId: 71, adAccountId: account.id, deleted: false, status: "ENABLED" }
  ads.adgroups.push({
    ...ids,
    id: 71,
    name: "Brand",
    automatedKeywordsOptIn: true,
    bidStrategy: { bidStrategyType: "MANUAL_CPT", bidStrategyGoal: "TAP", bid: { amount: "0.80", currency } },
  })
  ads.keywords.push(
    { ...ids, id: 81, text: "tea timer", matchType: "EXACT", bid: { amount: "1.20", currency } },
    { ...ids, id: 82, text: "green tea", matchType: "BROAD", bid: null },
  )
  ads.negatives.push({ ...ids, id: 91, adGroupId: null, text: "coffee", matchType: "BROAD" })
}

const FAST = ["--limit", "ratePerSecond=100000"]
const MANY = [...FAST, "--limit", "credits=10000000"]

/** Makes the world with the binary's own commands, next to a running server of the same folder. */
export async function makeWorld(build: Build, consoles: Consoles, now: Date): Promise<World> {
  const aliases: Aliases = {}
  const workspaceOf: Record<string, string> = {}
  const command = (args: string[], input?: string) => cliJson(build, args, input)

  const workspace = (name: string, options: string[]) => command(["workspace", "create", name, ...options])
  await workspace("main", ["--plan", "enterprise", "--explorer", "yes", ...MANY])
  await workspace("free", ["--plan", "free", ...FAST])
  await workspace("packed", ["--plan", "free", "--pack", "5000", ...FAST])
  await workspace("pro", ["--plan", "pro", ...FAST])
  await workspace("studio", ["--plan", "studio", "--explorer", "yes", ...FAST])
  await workspace("poor", ["--plan", "pro", "--limit", "credits=12", ...FAST])
  await workspace("slow", ["--plan", "pro", "--limit", "ratePerSecond=2"])
  await workspace("listed", ["--plan", "enterprise", ...FAST])
  await workspace("suspended", ["--plan", "pro", ...FAST])
  await workspace("deleted", ["--plan", "pro", ...FAST])

  const app = async (alias: string, owner: string, args: string[]) => {
    const { app: added } = await command(["app", "add", "--workspace", owner, ...args])
    aliases[alias] = added.id
  }
  const keywords = ALL_TERMS.flatMap((term) => ["--keyword", term])
  const countries = ["us", "gb", "de"].flatMap((country) => ["--country", country])
  const tea = [TEA.name, "--ios", TEA.id, "--android", TEA.pkg, ...countries, ...keywords]
  await app("tea", "main", [...tea, "--rival", `ios:${IOS_RIVALS[2]}`])
  await app("kettle", "main", [KETTLE.name, "--ios", KETTLE.id, "--country", "us", ...keywords.slice(0, 8)])
  await app("leaf", "main", [LEAF.name, "--android", LEAF.pkg, "--country", "us", ...keywords.slice(0, 8)])
  await app("unread", "main", [UNREAD.name, "--ios", UNREAD.id, "--country", "fr", "--keyword", "thé"])
  for (const owner of ["free", "packed", "pro", "studio", "poor"]) await app(`tea:${owner}`, owner, tea)
  await command(["app", "tag", aliases.tea!, "green tea", "brew", "--tag", "core"])
  await command(["app", "goal", aliases.tea!, "downloads"])

  const key = async (name: string, owner: string, options: string[] = []) => {
    const created = await command(["key", "create", "--workspace", owner, "--name", name, ...options])
    aliases[`key:${name}`] = created.secret
    aliases[`keyId:${name}`] = String(created.key.id)
    workspaceOf[name] = owner
  }
  const all = (await command(["key", "create", "--workspace", "main", "--name", "other"])).key.scopes as string[]
  await key(
    "full",
    "main",
    [...all, "hive:measure"].flatMap((scope) => ["--scope", scope]),
  )
  await key("reader", "main", ["--scope", "apps:read"])
  await key("hive", "main", ["--scope", "hive:read"])
  await key("tracker", "main", ["--scope", "apps:read", "--scope", "track:write"])
  await key("limited", "main", ["--app", aliases.kettle!])
  await key("budget", "main", ["--budget", "5"])
  await key("elsewhere", "main", ["--ip", "192.0.2.0/24"])
  await key("expired", "main", ["--expires", new Date(now.getTime() + 86_400_000).toISOString()])
  await key("paused", "main")
  await key("revoked", "main")
  await key("leaked", "main")
  await key("test", "main", ["--test"])
  for (const owner of ["free", "packed", "pro", "studio", "poor", "slow", "listed", "suspended", "deleted"])
    await key(owner, owner)
  await command(["key", "pause", aliases["keyId:paused"]!])
  await command(["key", "revoke", aliases["keyId:revoked"]!, "--force"])
  await command(["key", "leaked", aliases["keyId:leaked"]!, "--force"])
  await command(["workspace", "set", "listed", "--ip-list-required", "yes"])
  await command(["workspace", "set", "suspended", "--suspended", "yes"])

  await command(["import", "-"], `${publicReadings(now).join("\n")}\n`)
  const ids = await connect(build, consoles)
  const { bad } = await command(["import", "-"], `${accountReadings(now, ids).join("\n")}\n`)
  if (bad.length > 0) throw new Error(`Account reports were refused: ${JSON.stringify(bad.slice(0, 3))}`)
  Object.assign(aliases, { "account:console": ids.console, "account:ads": ids.ads, "account:billing": ids.billing })
  await command(["demo", "load", "--workspace", "studio"])
  const { apps } = await command(["app", "list", "--workspace", "studio"])
  const demoApps = (apps as { id: string; name: string }[]).filter(({ id }) => id !== aliases["tea:studio"])
  demoApps.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const [index, { id }] of demoApps.entries()) aliases[`demo:${index}`] = id
  await command(["workspace", "delete", "deleted", "--force"])
  return { aliases, workspaceOf }
}

async function connect(build: Build, { seller, ads }: Consoles): Promise<AccountIds> {
  const file = (name: string, text: string) => {
    const path = join(build.folder, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  const add = async (kind: string, options: string[]) => {
    const { account } = await cliJson(build, ["account", "add", kind, "--workspace", "main", ...options])
    return account.id as string
  }
  const sellerKey = seller.key("ADMIN")
  const sellerOptions = ["--key-id", sellerKey.keyId, "--issuer", seller.issuer]
  const sellerFile = file("seller.p8", sellerKey.pem)
  const console = await add("app-store-connect", [
    ...sellerOptions,
    "--vendor",
    seller.vendor,
    "--key-file",
    sellerFile,
  ])
  const adsKey = ads.key()
  const adsOptions = ["--key-id", adsKey.keyId, "--team-id", adsKey.teamId, "--client-id", adsKey.clientId]
  const adsFile = file("ads.pem", adsKey.pem)
  const adsId = await add("apple-ads", [...adsOptions, "--key-file", adsFile])
  const secretFile = file("billing.txt", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
  const billing = await add("revenuecat", ["--store-id", TEA.id, "--secret-file", secretFile])
  await cliJson(build, ["account", "writes", console, "on", "--workspace", "main"])
  await cliJson(build, ["account", "writes", adsId, "on", "--workspace", "main"])
  return { console, ads: adsId, billing }
}
