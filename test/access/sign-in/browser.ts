import { PUBLIC_URL, type Service } from "../../service.ts"

export interface Page {
  status: number
  text: string
  headers: Headers
}

/** Opens pages of a service like a browser: keeps cookies and sends forms, but does not follow redirects. */
export interface Browser {
  open(path: string, headers?: Record<string, string>): Promise<Page>
  send(
    path: string,
    fields: Record<string, string> | [string, string][],
    headers?: Record<string, string>,
  ): Promise<Page>
  /** Sends a body of any type, such as a form with a file. */
  sendBody(path: string, body: string, contentType: string): Promise<Page>
  cookies: Map<string, string>
}

export function browserOf(service: Pick<Service, "app">, { url = PUBLIC_URL, from = "192.0.2.1" } = {}): Browser {
  const cookies = new Map<string, string>()
  const request = async (path: string, init: RequestInit, extra: Record<string, string>): Promise<Page> => {
    const headers = new Headers({ accept: "text/html", host: new URL(url).host, ...extra })
    if (cookies.size > 0) headers.set("cookie", [...cookies].map((pair) => pair.join("=")).join("; "))
    const response = await service.app.fetch(new Request(`${url}${path}`, { ...init, headers }), from)
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) as unknown as [string, string, string]
      if (/Max-Age=0/.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return { status: response.status, text: await response.text(), headers: response.headers }
  }
  return {
    cookies,
    open: (path, headers = {}) => request(path, {}, headers),
    sendBody: (path, body, type) => request(path, { method: "POST", body }, { "content-type": type, origin: url }),
    send: (path, fields, headers = {}) =>
      request(
        path,
        { method: "POST", body: new URLSearchParams(fields).toString() },
        {
          "content-type": "application/x-www-form-urlencoded",
          origin: url,
          ...headers,
        },
      ),
  }
}

/** Returns the value of a hidden or filled field of a page. */
export function fieldIn({ text }: Page, name: string): string | undefined {
  const value = new RegExp(`<input[^>]*name="${name}"[^>]*value="([^"]*)"`).exec(text)?.[1]
  return value?.replaceAll("&amp;", "&").replaceAll("&quot;", '"').replaceAll("&#39;", "'")
}
