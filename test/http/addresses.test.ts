import { beforeAll, expect, test } from "bun:test"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"

let service: Service
beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
})

/** Returns the status with the allowed methods, the code or the redirect address, if any. */
async function answered(call: string): Promise<string> {
  const [method, path] = call.split(" ") as [string, string]
  const { status, headers, text } = await fetched(method, path)
  const code = /^{"error":"(\w+)"/.exec(text)?.[1]
  return [status, headers.get("allow") ?? code ?? headers.get("location")].filter((part) => part).join(" ")
}

async function fetched(method: string, path: string) {
  const response = await service.app.fetch(new Request(`${PUBLIC_URL}${path}`, { method }), null)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const ADDRESSES: Record<string, string> = {
  "GET /": "302 /app",
  "GET /docs": "200",
  "HEAD /docs": "200",
  "POST /docs": "405 GET, HEAD",
  "GET /docs/": "302 /docs",
  "GET /docs//": "404 unknown_endpoint",
  "GET //docs": "404 unknown_endpoint",
  "GET /docs/keywords": "200",
  "GET /docs/keywords/": "404 unknown_endpoint",
  "GET /docs/search": "200",
  "POST /docs/search": "405 GET, HEAD",
  "GET /docs/search.json": "200",
  "GET /docs/errors": "200",
  "GET /docs/errors/": "404 unknown_endpoint",
  "GET /docs/operate": "200",
  "GET /docs/operate/doctor": "200",
  "GET /docs/operate/doctor.md": "200",
  "GET /docs/operate/doctor.md/": "404 unknown_endpoint",
  "GET /docs/operate/doctorxmd": "404 unknown_endpoint",
  "GET /llms.txt": "200",
  "GET /llmsxtxt": "404 unknown_endpoint",
  "GET /favicon.ico": "200",
  "GET /v1": "302 /docs",
  "GET /v1/": "302 /docs",
  "GET /v1/openapi.json": "200",
  "HEAD /v1/openapi.json": "200",
  "GET /v1/openapi.json/": "401 missing_api_key",
  "GET /v1/openapi.yaml?examples=no": "200",
  "GET /v1/openapi.yaml?examples=maybe": "200",
  "GET /livez": "200",
  "HEAD /livez": "200",
  "PUT /livez": "405 GET, HEAD",
  "GET /livez/": "404 unknown_endpoint",
  "GET /readyz": "200",
  "GET /v1/sandbox": "404 unknown_endpoint",
  "GET /v1/sandbox/": "404 unknown_endpoint",
  "GET /v1/sandbox/apps": "200",
  "GET /v1/sandbox/apps/": "404 unknown_endpoint",
  "HEAD /v1/sandbox/apps": "405 GET",
  "POST /v1/sandbox/actions": "404 unknown_endpoint",
  "GET /sign-in": "200",
  "GET /sign-in/": "404 unknown_endpoint",
  "DELETE /sign-in": "405 GET, HEAD, POST",
  "GET /sign-out": "405 POST",
  "GET /app": "303 /sign-in?next=%2Fapp",
  "GET /app/": "303 /sign-in?next=%2Fapp%2F",
  "GET /app/none": "303 /sign-in?next=%2Fapp%2Fnone",
  "PUT /app": "405 GET, HEAD, POST",
  "GET /apple": "404 unknown_endpoint",
  "GET /app/sample": "200",
  "GET /app/sample/": "200",
  "GET /app/sample/alerts": "200",
  "GET /app/sample/alerts/": "200",
  "GET /app/sample/none": "404",
  "POST /app/sample": "405 GET, HEAD",
  "GET /app/samples": "303 /sign-in?next=%2Fapp%2Fsamples",
  "GET /approve": "303 /sign-in?next=%2Fapprove",
  "GET /approve/": "404 unknown_endpoint",
  "GET /approve/sample": "200",
  "GET /approve/ap_0123456789abcdef01": "303 /sign-in?next=%2Fapprove%2Fap_0123456789abcdef01",
  "GET /approve/ap_0123456789abcdef01/": "404 unknown_endpoint",
  "GET /approve/ap_0123": "404 unknown_endpoint",
  "PUT /approve/ap_0123456789abcdef01": "405 GET, HEAD, POST",
  "GET /oauth/authorize/": "404 unknown_endpoint",
  "GET /oauth/token": "405 POST, OPTIONS",
  "OPTIONS /oauth/token": "204",
  "GET /.well-known/oauth-protected-resource": "200",
  "GET /.well-known/oauth-protected-resource/mcp": "200",
  "GET /mcp/.well-known/oauth-authorization-server": "200",
  "GET /xwell-known/oauth-protected-resource": "404 unknown_endpoint",
  "GET /share": "404 unknown_endpoint",
  "GET /share/": "404",
  "GET /share/none": "404",
  "HEAD /share/none": "404",
  "GET /share/none/": "404",
  "GET /share/a/b": "404",
  "PUT /share/none": "405 GET, HEAD, POST",
  "GET /exports": "404 unknown_endpoint",
  "GET /exports/": "404 unknown_endpoint",
  "GET /exports/none": "404",
  "GET /exports/none/": "404 unknown_endpoint",
  "GET /exports/a/b": "404 unknown_endpoint",
  "POST /exports/none": "405 GET, HEAD",
}

slow("each address answers as listed here for methods, trailing slashes, dots and deeper paths", async () => {
  const results: Record<string, string> = {}
  for (const call of Object.keys(ADDRESSES)) results[call] = await answered(call)
  expect(results).toEqual(ADDRESSES)
})

test("a key in the address of a keyless path is refused before method and path are checked", async () => {
  const key = `svc_live_${"Canary0123456789".repeat(3).slice(0, 36)}`
  for (const path of ["/docs", "/livez", "/app", "/app/sample", "/sign-in", "/share/none", "/exports/none", "/nowhere"])
    for (const method of ["GET", "PUT"])
      expect([path, await answered(`${method} ${path}?key=${key}`)]).toEqual([path, "400 key_in_url"])
})
