import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Returns the path of an installed Chromium. Null if there is none. */
export function chromiumBinary(): string | null {
  const named = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
  return named.map((name) => Bun.which(name)).find((path) => path !== null) ?? null
}

/** A tab of a headless browser with an empty profile. */
export interface Tab {
  /** Opens an address and waits until it is loaded. */
  open(url: string): Promise<void>
  /** Returns the value of an expression in the page. */
  value<T>(expression: string): Promise<T>
  /** Runs an expression that leaves the page, and waits for the next page. */
  leave(expression: string): Promise<void>
  /** Sets the size in CSS pixels and the preferred colour scheme. A width below 600 emulates a phone. */
  show(width: number, height: number, colours?: "light" | "dark"): Promise<void>
  /** A PNG of the whole page. */
  picture(): Promise<Uint8Array>
  /** Presses a key. Enter opens something and waits for it. */
  press(key: keyof typeof KEYS): Promise<void>
  /** Types a text into the field with the focus. */
  type(text: string): Promise<void>
  /** Moves the mouse to a position, or taps it with a finger. In CSS pixels of the window. */
  point(x: number, y: number, by: "mouse" | "finger"): Promise<void>
  /** Enables or disables scripts in pages opened from now on. `value` works in both cases. */
  scripts(enabled: boolean): Promise<void>
  cookies(): Promise<{ name: string; path: string; httpOnly: boolean }[]>
  /** Deletes all cookies. */
  forget(): Promise<void>
  /** Returns every element with a role in the accessibility tree. */
  roles(): Promise<{ role: string; name: string }[]>
  /** All requested addresses, without those that a page's policy blocked. */
  readonly requests: string[]
  /** Console errors and warnings, and what a page's policy blocked. */
  readonly complaints: string[]
  /** Opens a tab for another person. It shares no cookies with this tab and closes with it. */
  newSession(): Promise<Tab>
  close(): Promise<void>
}

/** Keys and their codes. */
const KEYS = { Tab: 9, Enter: 13, End: 35, Home: 36, ArrowLeft: 37, ArrowRight: 39 } as const

/** Starts a browser that makes no requests on its own. */
export async function openTab(binary: string): Promise<Tab> {
  const profile = mkdtempSync(join(tmpdir(), "appmeter-browser-"))
  const child = Bun.spawn([binary, ...FLAGS, `--user-data-dir=${profile}`, "about:blank"], {
    stdout: "ignore",
    stderr: "pipe",
  })
  const endpoint = await endpointOf(child.stderr)
  const connection = await connect(endpoint)
  return await attachTab(connection, {}, async () => {
    connection.close()
    child.kill()
    await child.exited
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  })
}

async function attachTab(connection: Connection, context: object, close: () => Promise<void>): Promise<Tab> {
  const { send } = connection
  const { targetId } = await send("Target.createTarget", { url: "about:blank", ...context })
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true })
  const ask = (method: string, params: object = {}) => send(method, params, sessionId)
  const listen = (event: string, listener: (params: Message) => unknown) => connection.on(event, sessionId, listener)
  const requests = new Map<string, string>()
  const complaints: string[] = []
  listen("Network.requestWillBeSent", ({ requestId, request }) => requests.set(requestId, request.url))
  listen(
    "Network.loadingFailed",
    ({ requestId, blockedReason }) => blockedReason === "csp" && requests.delete(requestId),
  )
  listen("Log.entryAdded", ({ entry }) => complaints.push(`${entry.level}: ${entry.text}`))
  listen("Runtime.consoleAPICalled", ({ type, args }) => complaints.push(`${type}: ${args?.[0]?.value}`))
  listen("Runtime.exceptionThrown", ({ exceptionDetails }) => complaints.push(exceptionDetails.text))
  for (const domain of ["Page", "Network", "Runtime", "Log"]) await ask(`${domain}.enable`)
  const loaded = async (act: () => Promise<unknown>) => {
    // the previous page may still be loading, and the event at its end must be ignored
    while ((await value("document.readyState").catch(() => "")) !== "complete") await Bun.sleep(5)
    const isLoaded = new Promise<void>((done) => listen("Page.loadEventFired", () => done()))
    await act()
    await isLoaded
  }
  const value = async <T>(expression: string): Promise<T> => {
    const { result, exceptionDetails } = await ask("Runtime.evaluate", {
      expression,
      returnByValue: true,
      awaitPromise: true,
    })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value as T
  }
  return {
    get requests() {
      return [...requests.values()]
    },
    complaints,
    value,
    open: (url) => loaded(() => ask("Page.navigate", { url })),
    leave: (expression) => loaded(() => value(`${expression}; undefined`)),
    async show(width, height, colours = "light") {
      const size = { width, height, deviceScaleFactor: 1, mobile: width < 600 }
      await ask("Emulation.setDeviceMetricsOverride", size)
      await ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: colours }] })
    },
    async picture() {
      const { data } = await ask("Page.captureScreenshot", { captureBeyondViewport: true, format: "png" })
      return new Uint8Array(Buffer.from(data, "base64"))
    },
    async press(key) {
      const pressed = {
        key,
        code: key,
        windowsVirtualKeyCode: KEYS[key],
        ...(key === "Enter" && { text: "\r" }),
      }
      const press = () => ask("Input.dispatchKeyEvent", { type: "keyDown", ...pressed })
      await (key === "Enter" ? loaded(press) : press())
      await ask("Input.dispatchKeyEvent", { type: "keyUp", ...pressed })
    },
    type: async (text) => void (await ask("Input.insertText", { text })),
    async point(x, y, by) {
      if (by === "mouse") return void (await ask("Input.dispatchMouseEvent", { type: "mouseMoved", x, y }))
      await ask("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y }] })
      await ask("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] })
    },
    scripts: async (enabled) => void (await ask("Emulation.setScriptExecutionDisabled", { value: !enabled })),
    cookies: async () => (await ask("Network.getAllCookies")).cookies,
    forget: async () => void (await ask("Network.clearBrowserCookies")),
    async roles() {
      const { nodes } = await ask("Accessibility.getFullAXTree")
      const visible = nodes.filter(({ ignored }: { ignored: boolean }) => !ignored)
      // biome-ignore lint/suspicious/noExplicitAny: the protocol's own shape
      return visible.map(({ role, name }: any) => ({ role: role?.value, name: name?.value ?? "" }))
    },
    async newSession() {
      const { browserContextId } = await send("Target.createBrowserContext", {})
      return await attachTab(connection, { browserContextId }, async () => {})
    },
    close,
  }
}

// Many documents of a tab run the same scripts, such as axe, so their compiled code is cached.
const FLAGS = [
  "--in-process-gpu",
  "--js-flags=--no-flush-bytecode",
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-default-apps",
  "--remote-debugging-port=0",
  "--hide-scrollbars",
]

async function endpointOf(errors: ReadableStream<Uint8Array>): Promise<string> {
  let output = ""
  const decoder = new TextDecoder()
  const reader = errors.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`the browser ended: ${output}`)
    output += decoder.decode(value, { stream: true })
    const [, endpoint] = /DevTools listening on (ws:\S+)/.exec(output) ?? []
    if (endpoint !== undefined) {
      void drain(reader)
      return endpoint
    }
  }
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}

// biome-ignore lint/suspicious/noExplicitAny: the protocol's answers and events are read as they are documented
type Message = Record<string, any>
type Connection = Awaited<ReturnType<typeof connect>>

/** The DevTools protocol over a WebSocket: commands with replies, and events. */
async function connect(endpoint: string) {
  const socket = new WebSocket(endpoint)
  const waiting = new Map<number, PromiseWithResolvers<Message>>()
  const listeners = new Map<string, ((params: Message) => unknown)[]>()
  socket.onmessage = ({ data }) => {
    const { id, method, params, sessionId, result, error }: Message = JSON.parse(data as string)
    for (const listener of listeners.get(`${method} ${sessionId}`) ?? []) listener(params)
    if (error) waiting.get(id)?.reject(new Error(error.message))
    else waiting.get(id)?.resolve(result)
    waiting.delete(id)
  }
  await new Promise((open, fail) => {
    socket.onopen = open
    socket.onerror = fail
  })
  let sent = 0
  return {
    close: () => socket.close(),
    on(event: string, sessionId: string, listener: (params: Message) => unknown) {
      const key = `${event} ${sessionId}`
      listeners.set(key, [...(listeners.get(key) ?? []), listener])
    },
    send(method: string, params: object, sessionId?: string): Promise<Message> {
      const answer = Promise.withResolvers<Message>()
      waiting.set(++sent, answer)
      socket.send(JSON.stringify({ id: sent, method, params, ...(sessionId && { sessionId }) }))
      return answer.promise
    },
  }
}
