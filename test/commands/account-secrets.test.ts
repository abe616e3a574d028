import { afterAll, afterEach, beforeEach, expect, setDefaultTimeout } from "bun:test"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { pacificDay } from "../../src/consoles/pacific.ts"
import { addDays, monthsBefore } from "../../src/lib/days.ts"
import { STORE_HOSTS } from "../../src/lib/upstreams.ts"
import { SECRET_KEY } from "../alerts/delivery/scene.ts"
import { AD_ACCOUNT, addTeaAdGroup, campaign } from "../consoles/ads/scene.ts"
import { type AdsStandIn, adsStandIn } from "../consoles/ads/stand-in.ts"
import { purchase } from "../consoles/billing/scene.ts"
import { TEA_PACKAGE } from "../consoles/play/scene.ts"
import { type MadePlayKey, type PlayStandIn, playStandIn } from "../consoles/play/stand-in.ts"
import { TEA } from "../consoles/scene.ts"
import { type StandIn, salesReport, startStandIn } from "../consoles/stand-in.ts"
import { until } from "../jobs/platform.ts"
import { beforeLong, long } from "../long.ts"
import { answer, appmeter, dataFolder, removeFolders, scratch, serving } from "./child.ts"

setDefaultTimeout(120_000)
afterAll(removeFolders)

let standIn: StandIn
let ads: AdsStandIn
let play: PlayStandIn
let env: Record<string, string>
/** Every token that a request to the hosts contained. */
const shownSecrets = new Set<string>()
/** Loopback servers that record tokens and pass requests on to the stand-ins. */
const doors: ReturnType<typeof Bun.serve>[] = []

function doorBefore(url: string): string {
  const door = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const target = new URL(request.url)
      const [, token] = /^Bearer (\S+)$/.exec(request.headers.get("authorization") ?? "") ?? []
      if (token) shownSecrets.add(token)
      const body = request.method === "GET" ? undefined : await request.text()
      const form = new URLSearchParams(body ?? "")
      for (const secret of [form.get("client_secret"), form.get("assertion")]) if (secret) shownSecrets.add(secret)
      return await fetch(`${url}${target.pathname}${target.search}`, {
        method: request.method,
        headers: request.headers,
        ...(body !== undefined && { body }),
      })
    },
  })
  doors.push(door)
  return `http://127.0.0.1:${door.port}`
}

beforeLong(async () => {
  const { DATA_DIR } = await dataFolder()
  env = { DATA_DIR, SECRET_KEY, LOG_LEVEL: "debug" }
  await answer(["workspace", "create", "studio"], { env })
})
beforeEach(() => {
  standIn = startStandIn()
  standIn.apps.push(TEA)
  ads = adsStandIn()
  ads.accounts.push({ ...AD_ACCOUNT })
  ads.campaigns.push(campaign())
  addTeaAdGroup({ standIn: ads })
  play = playStandIn()
})
afterEach(async () => {
  standIn.stop()
  await ads.stop()
  await play.stop()
  for (const door of doors.splice(0)) await door.stop(true)
})

long("no key, token or secret is stored unencrypted while accounts are read, rotated and forgotten", async () => {
  const day = addDays(pacificDay(new Date()), -1)
  const row = { SKU: TEA.sku, Title: TEA.name, "Product Type Identifier": "1F", Units: "12", "Country Code": "US" }
  const money = {
    "Developer Proceeds": "0",
    "Customer Price": "0",
    "Customer Currency": "USD",
    "Currency of Proceeds": "USD",
  }
  let units = 12
  standIn.report = (type, reportDay) =>
    type === "SALES" && reportDay === day
      ? { tsv: salesReport(reportDay, [{ ...row, ...money, Units: String(units) }]) }
      : "late"
  const adsDoor = doorBefore(ads.url)
  const playDoor = doorBefore(play.url)
  const lastMonth = monthsBefore(day, 1).slice(0, 7)
  play.put(
    `stats/installs/installs_${TEA_PACKAGE}_${lastMonth.replace("-", "")}_overview.csv`,
    `Date,Package Name,Daily User Installs\n${lastMonth}-01,${TEA_PACKAGE},4\n`,
  )
  const hosts = {
    "api.appstoreconnect.apple.com": doorBefore(standIn.url),
    "api.ads.apple.com": adsDoor,
    "appleid.apple.com": adsDoor,
    "oauth2.googleapis.com": playDoor,
    "storage.googleapis.com": playDoor,
    "androidpublisher.googleapis.com": playDoor,
  }
  // no real store may be read
  const stores = STORE_HOSTS.map((host) => [host, standIn.url])
  const addresses = [...Object.entries(hosts), ...stores].map((pair) => pair.join("="))
  env = { ...env, MEASURE: "yes", UPSTREAM_URLS: addresses.join(",") }
  const { secret: ownerKey } = await answer(["key", "create", "--name", "owner"], { env })
  const storeIds = ["--ios", TEA.id, "--android", TEA_PACKAGE]
  const { id: appId } = (await answer(["app", "add", "Tea", ...storeIds, "--country", "us"], { env })).app
  const server = await serving({ env })
  const outputs: string[] = [readFileSync(`/proc/${server.pid}/cmdline`, "latin1")]
  const run = async (args: string[], stdin?: string) => {
    const ended = await appmeter(args, { env, ...(stdin !== undefined && { stdin }) })
    outputs.push(ended.out, ended.err)
    return ended
  }
  const ask = async (path: string) => {
    const answered = await fetch(`${server.url}/v1/apps/${appId}/${path}`, {
      headers: { authorization: `Bearer ${ownerKey}` },
    })
    const text = await answered.text()
    outputs.push(text)
    return { status: answered.status, body: JSON.parse(text) }
  }
  const [first, second, adsKey, adsNext] = [standIn.key(), standIn.key(), ads.key(), ads.key()]
  const fileOf = (pem: string) => {
    const file = join(scratch(), "key")
    writeFileSync(file, pem)
    return file
  }
  const [playKey, playNext] = [play.key(), play.key()]
  const billing = "a-secret-of-twenty-four-signs"
  let backup = ""
  try {
    const console = await run([
      ...["account", "add", "app-store-connect", "--issuer", standIn.issuer, "--key-id", first.keyId],
      ...["--key-file", fileOf(first.pem), "--vendor", standIn.vendor],
    ])
    const [id] = /ac_\w+/.exec(console.out) as unknown as [string]
    const { clientId, teamId, keyId } = adsKey
    const adIds = ["--client-id", clientId, "--team-id", teamId, "--key-id", keyId]
    const ad = await run(["account", "add", "apple-ads", ...adIds, "--key-file", fileOf(adsKey.pem)])
    const [adId] = /ac_\w+/.exec(ad.out) as unknown as [string]
    const bucket = ["--bucket", `gs://${play.bucket}/`]
    const google = await run(["account", "add", "google-play-console", "--key-file", fileOf(playKey.json), ...bucket])
    const [playId] = /ac_\w+/.exec(google.out) as unknown as [string]
    expect(google.out).toContain(`key …c0de of ${playKey.email}`)
    const added = await run(["account", "add", "revenuecat", "--store-id", TEA.id, "--secret-file", "-"], billing)
    const path = /\/in\/ac_\w+/.exec(added.out)![0]
    const sent = { method: "POST", body: JSON.stringify(purchase({ id: "e1" })), headers: { authorization: billing } }
    expect((await fetch(`${server.url}${path}`, sent)).status).toBe(200)
    await until(async () => (await ask("revenue?days=1")).body.totals?.downloads === 12)
    await until(async () => (await ask("ads-search-terms")).status === 200)

    await until(() => play.requests.some((path) => path.includes("alt=media")))
    // the key is replaced while the worker reads: the old key is refused, and the next report is read with the new one
    expect((await run(["account", "rotate", id, "--key-id", second.keyId, "--key-file", "-"], second.pem)).code).toBe(0)
    standIn.revoke(first.keyId)
    const nextIds = ["--client-id", adsNext.clientId, "--team-id", adsNext.teamId, "--key-id", adsNext.keyId]
    expect((await run(["account", "rotate", adId, ...nextIds, "--key-file", "-"], adsNext.pem)).code).toBe(0)
    ads.revoke(adsKey.keyId)
    expect((await run(["account", "rotate", playId, "--key-file", "-"], playNext.json)).code).toBe(0)
    play.revoke(playKey.keyId)
    units = 30
    expect((await run(["account", "test", id])).code).toBe(0)
    expect((await run(["account", "test", adId])).code).toBe(0)
    expect((await run(["account", "test", playId])).code).toBe(0)
    expect((await run(["replay", "--json"])).code).toBe(0)
    expect((await run(["account", "evidence", "--app", appId, "--report", "sales", "--day", day])).out).toContain(
      ", stored",
    )
    backup = join(scratch(), "backup")
    expect((await run(["backup", backup])).code).toBe(0)

    const rawDir = join(env.DATA_DIR!, "raw/accounts")
    expect(readdirSync(rawDir).sort()).toEqual([id, adId, playId].sort())
    await search(
      [...outputs, server.out(), server.err(), ...filesOf(env.DATA_DIR!), ...filesOf(join(backup, ".."))],
      id,
    )
    // after --forget neither the account's facts nor its bodies are stored
    expect((await run(["account", "remove", adId, "--forget", "--force"])).code).toBe(0)
    expect((await ask("ads-search-terms")).body.error).toBe("not_connected")
    expect(readdirSync(rawDir).sort()).toEqual([id, playId].sort())
    const requestCount = ads.requests.length
    await Bun.sleep(300)
    expect(ads.requests.length).toBe(requestCount)
  } finally {
    server.kill()
    await server.exited
  }
  await search([...outputs, server.out(), server.err(), ...filesOf(env.DATA_DIR!)], "tea timer")

  async function search(texts: string[], control: string): Promise<void> {
    expect(shownSecrets.size).toBeGreaterThan(3)
    const secrets = [
      ...[first, second, adsKey, adsNext].flatMap(({ pem }) => piecesOf(pem)),
      ...[playKey, playNext].flatMap(piecesOfRsa),
      // the signature of each token
      ...[...shownSecrets].map((token) => token.split(".").at(-1) as string),
      ...[SECRET_KEY, billing, "buyer-4711"],
    ]
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(8)
      expect(texts.filter((text) => text.includes(secret)).length).toBe(0)
    }
    // the control shows that the search finds stored texts
    expect(texts.filter((text) => text.toLowerCase().includes(control)).length).toBeGreaterThan(3)
  }
})

/** Parts that reveal a key: its lines, and the private number in 32 bytes from the 36th on. */
function piecesOf(pem: string): string[] {
  const lines = pem.split("\n").filter((line) => line !== "" && !line.startsWith("-----"))
  const keyBytes = Buffer.from(lines.join(""), "base64").subarray(36, 68)
  return [
    lines[1] as string,
    keyBytes.toString("hex"),
    keyBytes.toString("latin1"),
    keyBytes.toString("base64").slice(2, 40),
  ]
}

/** Lines of an RSA key, as in its file and as in JSON. */
function piecesOfRsa({ json }: MadePlayKey): string[] {
  const lines = (JSON.parse(json).private_key as string).split("\n")
  return [lines[3] as string, lines[10] as string, `${lines[3]}\\n${lines[4]}`]
}

/** Returns the files of a folder as text, decompressed. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const bytes = readFileSync(join(entry.parentPath, entry.name))
      return (entry.name.endsWith(".gz") ? unpack(gunzipSync(bytes)) : bytes).toString("latin1")
    })
}

/** Decompresses twice: a report's body is compressed itself. */
function unpack(bytes: Buffer): Buffer {
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes
}
