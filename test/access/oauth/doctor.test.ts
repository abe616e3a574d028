import { afterAll, beforeAll, expect, test } from "bun:test"
import { checkSignIn } from "../../../src/commands/doctor/sign-in.ts"
import { freshDatabase } from "../../database.ts"
import { type ServedService, serveAt } from "./served.ts"

let served: ServedService
beforeAll(async () => {
  served = serveAt(await freshDatabase())
})
afterAll(() => served.stop())

const check = async (publicUrl: string | undefined) => await checkSignIn({ settings: { publicUrl } as never })

/** A proxy in front of the service that replaces the responses of `spoil`. */
async function behindProxy(spoil: (path: string, origin: string) => Response | undefined) {
  const proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url, method }) => {
      const { origin, pathname } = new URL(url)
      return spoil(pathname, origin) ?? fetch(`${served.url}${pathname}`, { method })
    },
  })
  try {
    return await check(`http://127.0.0.1:${proxy.port}`)
  } finally {
    proxy.stop(true)
  }
}

test("doctor checks the sign-in of assistants at the public URL", async () => {
  expect(await check(undefined)).toEqual([])
  expect(await check(served.url)).toMatchObject([{ state: "ok", says: `assistants sign in at ${served.url}/mcp` }])
})

test("doctor reports a path that a proxy does not forward, and a PUBLIC_URL that is not the server's URL", async () => {
  const cases: [string, (path: string) => Response | undefined, string][] = [
    [
      "bare /mcp is left out",
      (path) => (path === "/mcp" ? new Response(null, { status: 404 }) : undefined),
      "answers 404",
    ],
    ["another public URL", () => undefined, "without a way to sign in"],
  ]
  for (const [, spoil, sentence] of cases) {
    const [finding] = await behindProxy(spoil)
    expect([finding!.state, finding!.says.includes(sentence)]).toEqual(["problem", true])
  }
  const [finding] = await behindProxy((path, origin) => {
    if (path !== "/mcp") return Response.json({ resource: `${origin}/mcp`, issuer: `${origin}/` })
    const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
    return new Response(null, { status: 401, headers: { "www-authenticate": challenge } })
  })
  // A trailing slash is enough for clients to refuse the issuer.
  expect([finding!.state, finding!.says.includes("/.well-known/oauth-authorization-server")]).toEqual(["problem", true])
})

test("doctor reports a warning instead of a problem if no server answers at the URL", async () => {
  const stopped = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() })
  stopped.stop(true)
  expect(await check(`http://127.0.0.1:${stopped.port}`)).toMatchObject([{ state: "warning" }])
})
