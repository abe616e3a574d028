import { describe, expect, setDefaultTimeout } from "bun:test"
import { ensureMember } from "../../../src/access/people/people.ts"
import { createCode } from "../../../src/access/sign-in/code.ts"
import { setPassphrase } from "../../../src/access/sign-in/passphrase.ts"
import { freshDatabase } from "../../database.ts"
import { afterSlow, beforeSlow, slow } from "../../long.ts"
import { chromiumBinary, openTab, type Tab } from "../../pages/browser.ts"
import { trackOwn } from "../../world/tracked.ts"
import { pkce, queryOf, register } from "./scene.ts"
import { type ServedService, serveAt } from "./served.ts"

setDefaultTimeout(60_000)

const binary = chromiumBinary()

describe.skipIf(binary === null)("in a browser that runs no script", () => {
  let served: ServedService
  let client: ReturnType<typeof Bun.serve>
  let tab: Tab
  let workspaceId: number
  const callbacks: URL[] = []

  beforeSlow(async () => {
    const sql = await freshDatabase()
    served = serveAt(sql)
    workspaceId = await served.service.workspace({ name: "acme" })
    const personId = await sql.begin((tx) => ensureMember(tx, workspaceId))
    await setPassphrase(sql, personId, "correct horse battery")
    await trackOwn(sql, { workspaceId, iosId: "1437843273" })
    // A client on this machine that redirects its user to its website, like Claude Code.
    client = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) => {
        const address = new URL(url)
        if (address.pathname !== "/callback")
          return new Response("<title>there</title>", { headers: { "content-type": "text/html" } })
        callbacks.push(address)
        return Response.redirect(`http://localhost:${address.port}/done`, 302)
      },
    })
    tab = await openTab(binary as string)
    await tab.scripts(false)
  })
  afterSlow(async () => {
    await tab?.close()
    served?.stop()
    client?.stop(true)
  })

  const request = async (name?: string) => {
    const redirect_uri = `http://127.0.0.1:${client.port}/callback`
    const query = queryOf(await register(served.service, [redirect_uri], name), pkce().challenge, {
      redirect_uri,
      resource: `${served.url}/mcp`,
    })
    return `${served.url}/oauth/authorize?${query}`
  }

  slow("a person signs in, approves the request and is redirected, even if the client redirects again", async () => {
    await tab.open(await request())
    expect(await tab.value("document.title")).toBe("Sign in · Appmeter")
    await tab.value(`document.querySelector("[name=passphrase]").value = "correct horse battery"`)
    await tab.leave(`document.querySelector("[name=passphrase]").form.querySelector("button").click()`)
    expect(await tab.value("document.querySelector('h1').textContent")).toBe("Let Test client in?")
    await tab.leave(`document.querySelector("button[value=allow]").click()`)
    await until(() => callbacks.length > 0)
    expect(callbacks[0]!.searchParams.get("code")).toMatch(/^[\w-]{43}$/)
    await until(
      async () => (await tab.value("location.href").catch(() => "")) === `http://localhost:${client.port}/done`,
    )
    // "verbose" lines advise a field for a name, which the form omits while one person has a passphrase
    expect(tab.complaints).toEqual([])
  })

  slow("a sign-in link signs in with one click", async () => {
    await tab.forget()
    await tab.open(`${served.url}/sign-in?code=${await createCode(served.service.sql, workspaceId)}`)
    await tab.leave(`document.querySelector("[name=code]").form.querySelector("button").click()`)
    expect(await tab.value("location.pathname")).toBe("/app")
    expect((await tab.cookies()).map(({ name, httpOnly }) => [name, httpOnly])).toEqual([["appmeter", true]])
  })
})

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (await holds()) return
    await Bun.sleep(50)
  }
  throw new Error("it did not come about")
}
