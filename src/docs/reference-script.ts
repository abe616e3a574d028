/**
 * The script of the reference. It calls only its own origin, and keeps a key only in the page's memory. It inserts
 * every text as text, never as markup.
 */
export const REFERENCE_SCRIPT = `
"use strict"

// the reference was one page: its anchors lead to the pages that have the parts now
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!target) return
  const moved = target.closest(".index li")
  if (moved) location.replace(moved.querySelector("a").href)
  const folded = target.closest("details")
  if (!folded || folded.open) return
  folded.open = true
  target.scrollIntoView()
}
addEventListener("hashchange", openTarget)
openTarget()

const contents = document.querySelector(".contents details")
if (contents) {
  const isWide = () => matchMedia("(min-width: 64rem)").matches
  contents.open = isWide()
  contents.addEventListener("click", ({ target }) => {
    if (target.closest("a") && !isWide()) contents.open = false
  })
}

const search = document.querySelector("form.search")
const query = search.querySelector("input")
const found = document.getElementById("found")
let turn = 0
let timer
query.addEventListener("input", () => {
  clearTimeout(timer)
  timer = setTimeout(showMatches, 150)
})
query.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return
  query.value = ""
  showMatches()
})

async function showMatches() {
  const text = query.value.trim()
  const mine = ++turn
  if (text === "") return found.replaceChildren()
  let matches
  try {
    const response = await fetch("/docs/search.json?q=" + encodeURIComponent(text), { credentials: "omit" })
    if (!response.ok) return
    matches = (await response.json()).matches
  } catch {
    // the form still works
    return
  }
  if (mine !== turn) return
  const count = document.createElement("p")
  const noun = matches.length === 1 ? " match" : " matches"
  count.textContent = matches.length === 0 ? "Nothing found" : matches.length + noun
  const list = document.createElement("ul")
  list.append(...matches.map(matchItem))
  found.replaceChildren(count, list)
}

function matchItem({ kind, title, text, address }) {
  const item = document.createElement("li")
  const link = document.createElement("a")
  link.href = address
  link.textContent = title
  link.addEventListener("click", () => found.replaceChildren())
  item.append(link, " " + kind + ". " + text)
  return item
}

for (const input of document.querySelectorAll("input[readonly]")) input.readOnly = false

const target = document.getElementById("asking")
const targetStatus = document.getElementById("asking-status")
const key = document.getElementById("key")
if (target) {
  target.hidden = false
  key.addEventListener("input", () => {
    target.querySelector("[value=live]").checked = key.value.trim() !== ""
    target.querySelector("[value=sandbox]").checked = key.value.trim() === ""
    targetStatus.textContent = ""
  })
}

function isLive() {
  return target.querySelector("[value=live]").checked
}

for (const box of document.querySelectorAll(".code")) {
  const button = document.createElement("button")
  button.textContent = "Copy"
  button.addEventListener("click", () => copy(box.querySelector("pre"), button))
  box.append(button)
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text.textContent)
    button.textContent = "Copied"
  } catch {
    // only pages from https or this machine may write to the clipboard
    getSelection().selectAllChildren(text)
    button.textContent = "Selected"
  }
  setTimeout(() => (button.textContent = "Copy"), 2000)
}

// a language opened in one place is opened everywhere; the clicked element stays in its place on the screen
document.addEventListener("click", (event) => {
  const chosen = event.target.closest(".lines summary")
  if (!chosen || chosen.parentNode.open) return
  const top = chosen.getBoundingClientRect().top
  for (const other of document.querySelectorAll(".lines summary"))
    if (other !== chosen && other.textContent === chosen.textContent) other.parentNode.open = true
  scrollBy(0, chosen.getBoundingClientRect().top - top)
})

document.addEventListener("submit", (event) => {
  if (event.target === search) return
  event.preventDefault()
  if (event.target.dataset.path) send(event.target)
})

async function send(form) {
  if (isLive() && key.value.trim() === "") {
    targetStatus.textContent = "Enter a key to call this instance."
    key.focus()
    return
  }
  const url = addressOf(form)
  const { status, body } = outputOf(form)
  const turn = String(Number(form.dataset.turn ?? 0) + 1)
  form.dataset.turn = turn
  status.textContent = "Calling " + url
  body.hidden = true
  let result
  try {
    const headers = isLive() ? { authorization: "Bearer " + key.value.trim() } : {}
    const response = await fetch(url, { headers, credentials: "omit", cache: "no-store" })
    result = await resultOf(response, url)
  } catch (error) {
    result = { status: "No response from " + url + ": " + error.message, body: "" }
  }
  // a later call of the same form replaces this one
  if (form.dataset.turn !== turn) return
  status.textContent = result.status
  body.textContent = result.body
  body.hidden = result.body === ""
}

function addressOf(form) {
  let path = isLive() ? form.dataset.path.replace("/sandbox/", "/") : form.dataset.path
  const query = new URLSearchParams()
  for (const field of form.querySelectorAll("input, select")) {
    const value = field.value.trim()
    if (field.dataset.path) path = path.replace("{" + field.dataset.path + "}", () => encodeURIComponent(value))
    else if (value !== "") query.append(field.name || field.dataset.name, value)
  }
  return query.size > 0 ? path + "?" + query : path
}

async function resultOf(response, url) {
  const text = await response.text()
  const headers = [...response.headers]
    .filter(([name]) => SHOWN_HEADERS.test(name))
    .map(([name, value]) => name + ": " + value)
  const status = response.status + (response.ok ? ", answered " : ", refused ") + url
  return { status, body: headers.join("\\n") + "\\n\\n" + pretty(text) }
}

const SHOWN_HEADERS = /^(x-credits-|x-request-id|content-type|retry-after)/

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function outputOf(form) {
  const output = form.nextElementSibling ?? newOutput(form)
  return { status: output.firstChild, body: output.lastChild }
}

function newOutput(form) {
  const output = document.createElement("div")
  const status = document.createElement("p")
  status.setAttribute("role", "status")
  const body = document.createElement("pre")
  body.tabIndex = 0
  body.className = "answer"
  body.setAttribute("role", "region")
  body.setAttribute("aria-label", "Answer")
  output.append(status, body)
  form.after(output)
  return output
}
`
