import { EDGE } from "./plot.ts"

/**
 * The script of charts: a crosshair that shows the value of every line for one day, taken from the table. The day is
 * the one under the pointer or finger, or is chosen by keys. Entries of the legend hide their lines. On pages whose
 * days can be chosen, dragging with the mouse zooms in.
 */
export const CROSSHAIR_SCRIPT = `
for (const chart of document.querySelectorAll("figure.chart")) {
  const [plot, table] = [chart.querySelector(".plot"), chart.querySelector("table")]
  const rows = [...table.tBodies[0].rows].reverse()
  if (rows.length === 0) continue
  const heads = [...table.tHead.rows[0].cells]
  const isBars = chart.dataset.chart === "bars"
  const edge = isBars ? 0 : ${EDGE / 1_000}
  const steps = Math.max(1, rows.length - 1)
  const placeOf = (at) => isBars ? (at + .5) / rows.length : edge + (1 - 2 * edge) * at / steps
  const dayAt = ({ clientX }) => {
    const { left, width } = plot.getBoundingClientRect()
    const part = (clientX - left) / width
    const at = isBars ? Math.floor(part * rows.length) : Math.round((part - edge) / (1 - 2 * edge) * steps)
    return Math.min(rows.length - 1, Math.max(0, at))
  }
  const make = (name, look, text = "") => {
    const element = document.createElement(name)
    element.className = look
    element.textContent = text
    return element
  }
  const [rule, box, live] = [make("div", "rule"), make("div", "cross"), make("p", "unseen")]
  live.setAttribute("aria-live", "polite")
  rule.hidden = box.hidden = true
  plot.append(rule, box)
  plot.after(live)
  plot.tabIndex = 0
  plot.setAttribute("role", "application")
  plot.setAttribute("aria-roledescription", "chart")
  plot.setAttribute("aria-label", chart.getAttribute("aria-label") + ". Arrow keys, Home and End choose a day.")
  plot.removeAttribute("aria-labelledby")
  const off = new Set()
  let day = null
  const hide = () => { rule.hidden = box.hidden = true; day = null }
  const show = (at, isSpoken) => {
    if (at === day && !isSpoken) return
    day = at
    const [when, ...cells] = rows[at].cells
    const list = make("ul", "")
    const [words, readers] = [[when.textContent], []]
    cells.forEach((cell, place) => {
      const head = heads[place + 1]
      const value = (cell.firstChild ?? cell).textContent.trim()
      if ("events" in head.dataset) {
        for (const event of value === "" ? [] : value.split("; ")) {
          list.append(make("li", "event", event))
          words.push(event)
        }
        return
      }
      if (off.has(place)) return
      const name = head.querySelector("bdi").textContent
      const state = value === "–" ? "not measured" : value
      const by = value === "–" ? "" : (cell.querySelector("small") ?? head.querySelector("small"))?.textContent ?? ""
      const item = make("li", "")
      item.append(head.querySelector("svg").cloneNode(true), make("bdi", "", name), " ", make("strong", "", state))
      if (by) readers.push([item, by])
      list.append(item)
      words.push(name + " " + state + (by && ", " + by))
    })
    // a source that all lines share is named once
    if (new Set(readers.map(([, by]) => by)).size === 1) list.append(make("li", "by", readers[0][1]))
    else for (const [item, by] of readers) item.append(" ", make("small", "", by))
    box.replaceChildren(make("p", "", when.textContent), list)
    box.dataset.day = when.firstElementChild.dateTime
    const place = placeOf(at)
    rule.style.left = box.style.left = 100 * place + "%"
    box.classList.toggle("before", place > .5)
    rule.hidden = box.hidden = false
    if (isSpoken) live.textContent = words.join(". ")
  }
  plot.addEventListener("keydown", (event) => {
    const last = rows.length - 1
    const from = day ?? last + 1
    const to = {
      ArrowLeft: from - 1, ArrowRight: day === null ? last : from + 1, Home: 0, End: last,
      PageUp: from - 7, PageDown: from + 7,
    }[event.key]
    if (event.key === "Escape") hide()
    if (to === undefined) return
    event.preventDefault()
    show(Math.min(last, Math.max(0, to)), true)
  })
  plot.addEventListener("blur", hide)
  let start = null
  plot.addEventListener("pointerdown", (event) => {
    start = event.pointerType === "mouse" && document.querySelector("[data-days]") ? dayAt(event) : null
    show(dayAt(event))
  })
  plot.addEventListener("pointermove", (event) => show(dayAt(event)))
  plot.addEventListener("pointerup", (event) => {
    const ends = [start ?? dayAt(event), dayAt(event)].sort((a, b) => a - b)
    start = null
    if (isBars || ends[1] - ends[0] < 2) return
    const url = new URL(location.href)
    const [from, to] = ends.map((at) => rows[at].querySelector("time").dateTime)
    url.searchParams.delete("days")
    url.searchParams.set("from", from)
    url.searchParams.set("to", to)
    location.assign(url)
  })
  plot.addEventListener("pointerleave", ({ pointerType }) => { if (pointerType === "mouse") hide() })
  addEventListener("pointerdown", ({ target }) => { if (!plot.contains(target)) hide() })
  for (const entry of chart.querySelectorAll(".legend [data-line]")) {
    const button = make("button", "")
    button.type = "button"
    button.setAttribute("aria-pressed", "true")
    button.setAttribute("aria-label", "Show " + entry.querySelector("bdi").textContent)
    button.append(entry.querySelector("svg"))
    entry.prepend(button)
    button.addEventListener("click", () => {
      const at = Number(entry.dataset.line)
      if (!off.delete(at)) off.add(at)
      button.setAttribute("aria-pressed", String(!off.has(at)))
      plot.querySelector("g[data-line='" + at + "']").style.display = off.has(at) ? "none" : ""
    })
  }
}
`
