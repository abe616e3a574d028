interface Server {
  pid: number
  port: number
  stop(): void
}

/** Starts a server of test/bench/server.ts in a separate process, on a separate core if the machine has two. */
export async function startServer(kind: string): Promise<Server> {
  const pin = Bun.which("taskset") && navigator.hardwareConcurrency > 1 ? ["taskset", "-c", "0"] : []
  const child = Bun.spawn([...pin, process.execPath, `${import.meta.dirname}/server.ts`, kind], {
    stdout: "pipe",
    stderr: "ignore",
    env: { ...process.env, NODE_ENV: "production" },
  })
  const reader = child.stdout.getReader()
  let text = ""
  while (!text.includes("\n")) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`${kind} ended before it served`)
    text += new TextDecoder().decode(value)
  }
  return { ...JSON.parse(text), pid: child.pid, stop: () => child.kill() }
}
