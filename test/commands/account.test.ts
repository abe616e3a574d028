import { afterEach, beforeEach, expect, setDefaultTimeout } from "bun:test"
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pacificDay } from "../../src/consoles/pacific.ts"
import { addDays } from "../../src/lib/days.ts"
import { STORE_HOSTS } from "../../src/lib/upstreams.ts"
import { SECRET_KEY } from "../alerts/delivery/scene.ts"
import { AD_ACCOUNT, campaign } from "../consoles/ads/scene.ts"
import { adsStandIn } from "../consoles/ads/stand-in.ts"
import { purchase } from "../consoles/billing/scene.ts"
import { TEA } from "../consoles/scene.ts"
import { type MadeKey, type StandIn, salesReport, startStandIn } from "../consoles/stand-in.ts"
import { until } from "../jobs/platform.ts"
import { afterSlow, beforeSlow, long, slow } from "../long.ts"
import {
  answer,
  appmeter,
  copyOf,
  dataFolder,
  openFolder,
  removeFolders,
  scratch,
  serving,
  startCommand,
} from "./child.ts"

setDefaultTimeout(60_000)
afterSlow(removeFolders)

let standIn: StandIn
let studio: string
let env: Record<string, string>
beforeSlow(async () => {
  studio = (await dataFolder()).DATA_DIR
  await answer(["workspace", "create", "studio"], { env: { DATA_DIR: studio } })
})
beforeEach(() => {
  standIn = startStandIn()
  standIn.apps.push(TEA)
  env = { DATA_DIR: copyOf(studio), SECRET_KEY, UPSTREAM_URLS: `api.appstoreconnect.apple.com=${standIn.url}` }
})
afterEach(() => standIn.stop())

const addArgs = (key: MadeKey, file: string) => [
  ...["account", "add", "app-store-connect", "--issuer", standIn.issuer, "--key-id", key.keyId],
  ...["--key-file", file, "--vendor", standIn.vendor],
]

function fileOf({ pem }: MadeKey): string {
  const file = join(scratch(), "AuthKey.p8")
  writeFileSync(file, pem)
  return file
}

long("an account's key is never unencrypted in a file, answer, log, backup or process list", async () => {
  const [first, second] = [standIn.key(), standIn.key("ADMIN")]
  const files = [fileOf(first), fileOf(second)] as const
  const server = await serving({ env: { ...env, LOG_LEVEL: "debug", MEASURE: "no" } })
  const outputs: string[] = []
  /** Runs in a separate process, whose command line others can read. */
  const runWithKey = async (args: string[], stdin?: string) => {
    const child = startCommand(args, { env, ...(stdin !== undefined && { stdin }) })
    outputs.push(commandLine(child.pid))
    const [code, out, err] = await Promise.all([child.exited, readStream(child.stdout), readStream(child.stderr)])
    outputs.push(out, err)
    return { code, out, err }
  }
  const run = async (args: string[]) => {
    const ended = await appmeter(args, { env })
    outputs.push(ended.out, ended.err)
    return ended
  }
  const added = await runWithKey(addArgs(first, files[0]))
  expect([added.code, added.err]).toEqual([0, ""])
  expect(added.out).toMatch(/^ac_[0-9a-f]{18} {2}App Store Connect, key …0000, vendor 85012345: ok\n/)
  expect(added.out).toMatch(/prices +denied +needs the role App Manager or Admin/)
  expect(added.out).toMatch(/Tea Timer +310633997 +not tracked/)
  // which reports are read now, and what is still missing
  expect(added.out).toContain("a running server now reads: sales, subscriptions")
  expect(added.out).toContain('to see the figures of Tea Timer: appmeter app add "Tea Timer" --ios 310633997')
  const [id] = /ac_\w+/.exec(added.out) as unknown as [string]
  const rotated = await runWithKey(["account", "rotate", id, "--key-id", second.keyId, "--key-file", "-"], second.pem)
  expect([rotated.code, rotated.out.includes("key …0001")]).toEqual([0, true])
  standIn.revoke(first.keyId)
  expect((await run(["account", "test", id, "--json"])).code).toBe(0)
  standIn.revoke(second.keyId)
  const refused = await run(["account", "test", id])
  expect([refused.code, refused.err]).toEqual([
    1,
    "appmeter: the console refuses the key: it is revoked, or it belongs to another issuer or key id\n",
  ])
  const backup = join(scratch(), "backup")
  expect((await run(["backup", backup])).code).toBe(0)
  expect((await run(["account", "list"])).out).toContain(id)
  server.kill()
  await server.exited
  outputs.push(server.out(), server.err())

  const texts = [...outputs, ...filesOf(env.DATA_DIR!), ...filesOf(join(backup, ".."))]
  for (const secret of [...piecesOf(first), ...piecesOf(second), SECRET_KEY])
    expect(texts.filter((text) => text.includes(secret)).length).toBe(0)
  // the control: the unencrypted account id is in the folder, the backup and the output
  expect(texts.filter((text) => text.includes(id)).length).toBeGreaterThan(4)

  expect((await run(["account", "remove", id])).code).toBe(1)
  expect((await run(["account", "remove", id, "--force"])).code).toBe(0)
  expect((await answer(["account", "list"], { env })).accounts).toMatchObject([{ id, state: "removed" }])
})

/** Parts that reveal a key: its lines, and its bytes in base64 without the ends, in any context. */
function piecesOf({ pem }: MadeKey): string[] {
  const lines = pem.split("\n").filter((line) => line !== "" && !line.startsWith("-----"))
  const bytes = Buffer.from(lines.join(""), "base64")
  // the private number is in 32 bytes from the 36th on
  const keyBytes = bytes.subarray(36, 68)
  return [
    lines[1] as string,
    keyBytes.toString("hex"),
    keyBytes.toString("latin1"),
    keyBytes.toString("base64").slice(2, 40),
  ]
}

/** Returns the files of a folder as text. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString("latin1"))
}

function commandLine(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, "latin1")
}

const readStream = (stream: ReadableStream<Uint8Array>) => new Response(stream).text()

slow("account add without SECRET_KEY, a key file or a required option fails and sends no request", async () => {
  const key = standIn.key()
  const { SECRET_KEY: _, ...bare } = env
  const withoutSecret = await appmeter(addArgs(key, fileOf(key)), { env: bare })
  expect([withoutSecret.code, withoutSecret.err]).toEqual([
    78,
    "appmeter: a setting is invalid:\n" +
      "  SECRET_KEY is missing: 32 random bytes as base64 or hex; create them with: head -c 32 /dev/urandom | base64\n",
  ])
  expect((await appmeter(addArgs(key, "/nowhere"), { env })).code).toBe(1)
  expect((await appmeter(addArgs(key, fileOf(key)).slice(0, -2), { env })).err).toMatch(/--vendor is missing/)
  expect((await appmeter(["account", "add", "apple-ads", "--key-id", "k"], { env })).err).toContain(
    "--client-id, --team-id and --key-file are missing",
  )
  expect(standIn.requests).toEqual([])
})

long("a connected key delivers yesterday's revenue in a minute, and doctor reports a key without a role", async () => {
  const yesterday = addDays(pacificDay(new Date()), -1)
  const row = { SKU: TEA.sku, Title: TEA.name, "Product Type Identifier": "1F", Units: "12", "Country Code": "US" }
  const money = {
    "Developer Proceeds": "0",
    "Customer Price": "0",
    "Customer Currency": "USD",
    "Currency of Proceeds": "USD",
  }
  standIn.report = (type, day) =>
    type === "SALES" && day === yesterday ? { tsv: salesReport(day, [{ ...row, ...money }]) } : "late"
  // no real store may be read
  const stores = STORE_HOSTS.map((host) => `${host}=${standIn.url}`)
  env = { ...env, MEASURE: "yes", UPSTREAM_URLS: [env.UPSTREAM_URLS, ...stores].join(",") }
  const { secret } = await answer(["key", "create", "--name", "owner"], { env })
  const { id: appId } = (await answer(["app", "add", "Tea", "--ios", TEA.id, "--country", "us"], { env })).app
  const server = await serving({ env })
  try {
    const startedAt = performance.now()
    const newKey = standIn.key()
    const added = await appmeter(addArgs(newKey, fileOf(newKey)), { env })
    expect(added.out).toMatch(new RegExp(`Tea Timer +${TEA.id} +${appId}`))
    expect(added.out).toMatch(
      new RegExp(`not read until .* the role Admin requests them once: appmeter account analytics ac_\\w+ ${TEA.id}`),
    )
    const ask = async () => {
      const headers = { authorization: `Bearer ${secret}` }
      return await fetch(`${server.url}/v1/apps/${appId}/revenue?days=1`, { headers })
    }
    await until(async () => (await ask()).status === 200)
    expect(performance.now() - startedAt).toBeLessThan(60_000)
    expect(((await (await ask()).json()) as { totals: { downloads: number } }).totals.downloads).toBe(12)
    const poorKey = standIn.key("MARKETING")
    const result = await appmeter(addArgs(poorKey, fileOf(poorKey)), { env })
    expect(result.out).toMatch(/nothing is read yet: sales: needs the role Sales.*appmeter account test ac_/)
    const { accounts } = await answer(["account", "list"], { env })
    const account = accounts.find(({ state }: { state: string }) => state === "limited")
    expect(account).toMatchObject({ state: "limited", why: expect.stringContaining("the role Sales") })
    const doctor = await appmeter(["doctor"], { env })
    expect(doctor.out + doctor.err).toContain(`appmeter account test ${account.id}`)
  } finally {
    server.kill()
  }
  expect(await server.exited).toBe(0)
})

slow("an ad account is connected with a locally generated key, and only the public key is printed", async () => {
  const ads = adsStandIn()
  const database = await openFolder({ DATA_DIR: env.DATA_DIR! })
  try {
    ads.accounts.push({ ...AD_ACCOUNT }, { ...AD_ACCOUNT, id: 77, name: "Coffee" })
    ads.campaigns.push(campaign())
    env = { ...env, UPSTREAM_URLS: `api.ads.apple.com=${ads.url},appleid.apple.com=${ads.url}` }
    const file = join(scratch(), "AdsKey.pem")
    const generated = await appmeter(["account", "keygen", "apple-ads", "--key-file", file], { env })
    expect([generated.code, generated.out]).toEqual([0, expect.stringMatching(/^-----BEGIN PUBLIC KEY-----\n/)])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await appmeter(["account", "keygen", "apple-ads", "--key-file", file], { env })).code).toBe(1)
    const ids = ads.register(generated.out)
    const typed = ["--client-id", ids.clientId, "--team-id", ids.teamId, "--key-id", ids.keyId, "--key-file", file]
    const several = await appmeter(["account", "add", "apple-ads", ...typed], { env })
    expect([several.code, several.err]).toEqual([2, expect.stringContaining("choose one with --ad-account")])
    expect(several.out).toMatch(/77 +Coffee/)
    const added = await appmeter(["account", "add", "apple-ads", ...typed, "--ad-account", "77"], { env })
    expect(added.out).toMatch(/^ac_[0-9a-f]{18} {2}Apple Ads, key …\w{4}, ad account 77: ok\n/)
    expect(added.out).toMatch(/writes +ok/)
    const texts = [several.out, several.err, added.out, ...filesOf(env.DATA_DIR!)]
    for (const secret of piecesOf({ pem: readFileSync(file, "utf8"), keyId: "", role: "SALES" }))
      expect(texts.filter((text) => text.includes(secret)).length).toBe(0)
  } finally {
    await database.close()
    await ads.stop()
  }
})

slow(
  "a billing service is connected with a secret from stdin, and its messages are accepted at the printed address",
  async () => {
    const secret = "a-secret-of-twenty-four-signs"
    const server = await serving({ env: { ...env, MEASURE: "no" } })
    try {
      const typed = ["account", "add", "revenuecat", "--store-id", TEA.id, "--secret-file", "-"]
      const added = await appmeter(typed, { env: { ...env, PUBLIC_URL: server.url }, stdin: secret })
      expect(added.out).toMatch(/^ac_[0-9a-f]{18} {2}RevenueCat, secret, app 310633997: ok\n/)
      const [, address = ""] = /receives messages at (\S+)/.exec(added.out) ?? []
      const send = async (authorization: string) => {
        const body = JSON.stringify(purchase({ id: "e1" }))
        return (await fetch(address, { method: "POST", body, headers: { authorization } })).status
      }
      expect([await send("another secret"), await send(secret), await send(secret)]).toEqual([404, 200, 200])
      const bad = await appmeter([...typed, "--json"], { env, stdin: "short" })
      expect([bad.code, bad.err]).toEqual([1, expect.stringContaining("16 characters")])
      const store = await appmeter(["account", "add", "app-store-notifications", "--store-id", TEA.id], { env })
      expect(store.out).toContain("App Store Server Notifications, Apple's signature")
      for (const text of [added.out, added.err, store.out, ...filesOf(env.DATA_DIR!)])
        for (const hidden of [secret, "buyer-4711"]) expect(text.includes(hidden)).toBe(false)
    } finally {
      server.kill()
      await server.exited
    }
  },
)
