/** Yields the data of each message event of an event stream. Skips events with other names. */
export async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ""
  let data: string[] = []
  let name = "message"
  for await (const chunk of body) {
    // a carriage return at the end may be the first half of CRLF
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() as string
    for (const line of lines) {
      const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) as RegExpExecArray
      if (field === "data") data.push(value)
      if (field === "event") name = value
      if (line !== "") continue
      const text = data.join("\n")
      if (text !== "" && (name === "message" || name === "")) yield text
      data = []
      name = "message"
    }
  }
}
